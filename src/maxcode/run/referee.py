"""The referee for other loops: maxcode's verdict as a function that any search, agent or trainer can call.

    judge = Referee("problem/")
    judge("int main() { ... }").score

A loop that maximises a measured ratio selects lucky measurements as well as fast programs.  So ``score`` is the part of
the speed-up that is proved, not the ratio; and a program that is given twice keeps its first judgement, so that nothing
is won by asking again, or by another comment or layout.  The last ``KEPT`` judgements are kept; those of programs that
scored nothing go first, because it takes hours to push out the others.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, final

from anyio.from_thread import BlockingPortal, start_blocking_portal

from maxcode.code.source import fingerprint
from maxcode.core.types import Action, Interval, Machine, Outcome, Program, Step
from maxcode.errors import UnmeasurableError
from maxcode.evaluate.harness_protocol import SearchHarness
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.target import where
from maxcode.observe.feedback import feedback_lines
from maxcode.problems import Loaded
from maxcode.run.admission import notes_on
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.evaluation import Measured, measured
from maxcode.run.given_candidate import read_candidate
from maxcode.run.loaded import loaded_of
from maxcode.run.request import Request
from maxcode.run.request_checks import unmeasurable
from maxcode.run.score import metrics_of, score_of

AnyPath = str | PathLike[str]
KEPT = 4096


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """What the referee says of one program.

    ``score``      what a loop may maximise (``score_of``)
    ``result``     as of ``evaluate_program``: outcome, reasons, speed-up, doubts
    ``artefacts``  text for the next prompt: ``feedback``, ``verdict``, and ``diagnostics`` of the compiler, if any.
                   Nothing in it shows a held-out test
    """

    score: float
    result: CandidateResult
    artefacts: Mapping[str, str]

    @property
    def correct(self) -> bool:
        """Whether every output was right."""
        return self.result.outcome is Outcome.CORRECT

    @property
    def interval(self) -> Interval | None:
        """The speed-up with its interval; None if it was not timed."""
        return self.result.speedup.interval if self.result.speedup is not None else None

    @property
    def metrics(self) -> dict[str, float]:
        """The figures as numbers (``metrics_of``)."""
        return metrics_of(self.result)


@final
@dataclass(frozen=True, slots=True)
class _Desk:
    """An admitted problem in the event loop of a thread of this process; ``pid`` is the process."""

    pid: int
    portal: BlockingPortal
    stack: ExitStack
    harness: SearchHarness
    admitted: Admitted
    machine: Machine

    async def judge(self, program: Program) -> Measured:
        return await measured(self.harness, self.admitted, self.machine, Action(program))

    def close(self) -> None:
        if os.getpid() == self.pid:
            self.stack.close()


@final
class Referee:
    """Judges candidates for one problem, which is admitted at the first call.

    Threads may share it: builds overlap, and one candidate is timed at a time.  A process that is forked from this one
    admits the problem again.  ``close`` it, use it in a ``with`` statement, or leave that to the end of the process.
    """

    def __init__(
        self,
        problem: AnyPath,
        tests: AnyPath | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        shapes: str = "",
        cluster: str = "",
    ) -> None:
        """``problem``, ``tests`` and the options are those of ``evaluate_program``, where ``problem`` is called
        ``against``.  InputError if the problem cannot be read."""
        given = Path(tests) if tests is not None else None
        request = Request(Path(problem), given, overrides=dict(overrides or {}), shapes=shapes, cluster=cluster)
        loaded, self._request = loaded_of(request)
        self._loaded: Loaded = loaded
        self._lock = threading.RLock()
        self._desk: _Desk | None = None
        self._judged: dict[str, Future[Judgement]] = {}

    @property
    def name(self) -> str:
        """The problem's name."""
        return self._loaded.problem.id

    @property
    def program(self) -> Program:
        """The original."""
        return self._loaded.problem.program

    def admit(self) -> None:
        """Builds, verifies and times the original, if that was not done yet.  InputError if the problem cannot be used,
        UnmeasurableError if its tests are too short to time; UnsafeError if no sandbox works."""
        self._opened()

    def __call__(self, candidate: AnyPath) -> Judgement:
        """Judges a program: its text, or the file or folder that holds it (a ``str`` with a line break is a text).

        Blocks until it is measured, some seconds.  InputError as ``admit``, or if the candidate cannot be read;
        BoundaryError if the machine failed.
        """
        desk, program = self._opened(), self._read(candidate)
        key = fingerprint(program.files, self._loaded.problem.language)
        mine = Future[Judgement]()
        with self._lock:
            first = self._judged.setdefault(key, mine)
        if first is not mine:
            return first.result()
        try:
            mine.set_result(self._judge(desk, program))
        except BaseException as error:
            if mine.done():  # Ctrl-C behind the judgement, which stays
                raise
            with self._lock:
                del self._judged[key]
            mine.set_exception(error)
        else:
            self._drop_old()
        return mine.result()

    def _drop_old(self) -> None:
        with self._lock:
            more = len(self._judged) - KEPT
            if more <= 0:
                return
            ended = {key: one.result().score for key, one in self._judged.items() if one.done()}
            for key in sorted(ended, key=lambda key: ended[key] > 0)[:more]:  # among equals the oldest first
                del self._judged[key]

    def close(self) -> None:
        """Ends its sandbox and its thread; a later call admits the problem again."""
        with self._lock:
            desk, self._desk = self._desk, None
        if desk is not None:
            desk.close()

    def __enter__(self) -> Referee:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self, candidate: AnyPath) -> Program:
        problem = self._loaded.problem
        is_text = isinstance(candidate, str) and "\n" in candidate
        return problem.program.with_text(str(candidate)) if is_text else read_candidate(Path(candidate), problem)

    def _opened(self) -> _Desk:
        with self._lock:
            if self._desk is None or self._desk.pid != os.getpid():
                self._judged = {}
                self._desk = self._open()
                weakref.finalize(self, self._desk.close)
            return self._desk

    def _open(self) -> _Desk:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            target = stack.enter_context(where(self._request.measured_on))
            harness, admitted, machine = portal.call(target.prepare, self._loaded.problem)
            if why := unmeasurable(admitted):
                raise UnmeasurableError(why)
            return _Desk(os.getpid(), portal, stack.pop_all(), harness, admitted, machine)

    def _judge(self, desk: _Desk, program: Program) -> Judgement:
        waiting = desk.portal.start_task_soon(desk.judge, program)
        try:
            found = waiting.result()
        except BaseException:
            waiting.cancel()
            raise
        result = found.result(notes_on(self._loaded, desk.admitted, is_here=self._request.measured_on is None))
        said = {
            "feedback": "\n".join(feedback_lines(Step(Action(program), found.evaluation, 0.0), None)),
            "verdict": str(result),
            "diagnostics": found.evaluation.feedback.diagnostics,
        }
        return Judgement(score_of(result), result, {name: text for name, text in said.items() if text})
