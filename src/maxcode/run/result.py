"""The answer of ``optimize`` about a run: typed values, lines of text, and the JSON contract (``result.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.printable import printable
from maxcode.core.types import Outcome, Program, Spent
from maxcode.evaluate.cluster import Report
from maxcode.run.candidate_result import CandidateResult
from maxcode.run.certificate import FreshInputTiming
from maxcode.run.figures import Speedup
from maxcode.run.report.certified import verify_command
from maxcode.run.result_html import page_of
from maxcode.run.times import in_words


@final
@dataclass(frozen=True, slots=True)
class Paid:
    """The cost of a run with its resumes: wall ``seconds`` of work, which waits for other maxcode runs are not, and all
    model calls, those of the critic too.  ``dollars`` is None if a price is not known."""

    seconds: float
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None

    def __str__(self) -> str:
        money = "price unknown" if self.dollars is None else f"${self.dollars:.4g}"
        tokens = f"{self.prompt_tokens} + {self.completion_tokens} tokens"
        return f"{self.calls} model calls, {tokens}, {money}; {self.seconds:.0f} s"


@final
@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    ``measured``      the result of the best program; that of the original if nothing was confirmed to be faster
    ``candidates``    number of evaluated programs; ``outcomes`` counts them by outcome, and ``unchanged`` those of the
                      correct ones that are the original, comments and layout apart
    ``best``          file of the best program; that of the original if nothing was faster
    ``best_program``  the best program: file names and texts
    ``folder``        the run folder; ``report``: the HTML page in it
    ``spent``         seconds and model calls
    ``times``         wall seconds of this command by what they went to; the waits for other maxcode runs are apart
    ``stopped``       whether Ctrl-C ended the run; ``ended``: the cap that ended it, or empty
    ``certificate``   file of the certificate; None if there is none
    ``cluster``       figures of the slots of a cluster; None: this machine
    ``notes``         remarks on the run and its certificate
    ``change``        what the best program changes, in words; empty if nothing was faster
    ``refused``       why no candidate was run, if all were rejected or did not build
    ``left``          what is left to do, where little or nothing was won
    ``proposal``      of a repository: the file PR.md; None if nothing was confirmed
    ``branch``        of a repository: the new branch with the patch; empty if none was asked for, or made
    """

    measured: CandidateResult
    candidates: int
    outcomes: Mapping[str, int]
    best: Path
    best_program: Program
    folder: Path
    report: Path
    spent: Paid
    stopped: bool = False
    ended: str = ""
    certificate: Path | None = None
    cluster: Report | None = None
    unchanged: int = 0
    notes: tuple[str, ...] = ()
    change: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    proposal: Path | None = None
    branch: str = ""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the best program."""
        return self.measured.outcome

    @property
    def speedup(self) -> Speedup | None:
        """The speed-up of the best program; None if it could not be measured: ``why`` gives the reason."""
        return self.measured.speedup

    @property
    def why(self) -> str | None:
        """Why there is no proved speed-up; None if there is one."""
        return self.measured.why

    @property
    def trusted(self) -> bool:
        """Whether a faster program was confirmed, and no check failed."""
        return self.measured.trusted

    @property
    def doubts(self) -> tuple[str, ...]:
        """The failed checks of the speed-up, one sentence each."""
        return self.measured.doubts

    @property
    def fresh_inputs(self) -> FreshInputTiming | None:
        """The speed-up on newly generated inputs; None if no program was faster."""
        return self.measured.fresh_inputs

    @property
    def confirmed(self) -> bool:
        """Whether a program was found that is also faster on fresh pairs."""
        return self.measured.speedup is not None and self.measured.speedup.confirmed

    def __str__(self) -> str:
        """The lines that the command line prints."""
        return printable("\n".join(self.lines()))

    def _repr_html_(self) -> str:
        files = {"report": self.report, "best program": self.best}
        return page_of(self.measured.headline(), str(self), files)

    def lines(self) -> Iterator[str]:
        """All lines of text."""
        yield from self.measured.lines()
        counted = {**self.outcomes, "unchanged": self.unchanged}
        counted["correct"] = counted.get("correct", 0) - self.unchanged
        counts = ", ".join(f"{count} {name}" for name, count in sorted(counted.items()) if count)
        yield f"candidates {self.candidates}: {counts}"
        yield from _titled("", self.refused)
        yield from _titled("change", self.change)
        if self.best.is_relative_to(self.folder):
            yield f"best       {self.best}"
        if self.branch:
            yield f"branch     {self.branch}"
        if self.proposal is not None:
            yield f"proposal   {self.proposal}"
        yield f"report     {self.report}"
        yield from _titled("slots", _slots(self.cluster))
        if self.certificate is not None:
            yield f"certified  {self.certificate}"
            yield f"repeat it  {verify_command(self.certificate)}"
        if self.spent.calls:
            yield f"spent      {self.spent}"
        if self.times:
            yield f"time       {in_words(self.times)}"
        yield from _titled("left to do", self.left)
        yield from (f"note       {one}" for one in self.notes if self.measured.is_new(one))

    def table(self) -> dict[str, Any]:
        """The fields of the JSON contract, without empty ones."""
        more = {
            "stopped": self.stopped or None,
            "certificate": str(self.certificate) if self.certificate is not None else None,
            "ended": self.ended or None,
            "cluster": self.cluster.as_table() if self.cluster is not None else None,
            "change": self.change or None,
            "refused": self.refused or None,
            "left": self.left or None,
            "times": dict(self.times) or None,
            "proposal": str(self.proposal) if self.proposal is not None else None,
            "branch": self.branch or None,
        }
        return {
            **self.measured.table(),
            "notes": self.notes,
            "candidates": self.candidates,
            "outcomes": dict(self.outcomes),
            "unchanged": self.unchanged,
            "best": str(self.best),
            "record": str(self.folder),
            "report": str(self.report),
            "spent": asdict(self.spent),
            **{key: value for key, value in more.items() if value is not None},
        }

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode(self.table()).decode()


def paid(spent: Spent) -> Paid:
    """The cost as a result reports it."""
    usage = spent.usage
    return Paid(round(spent.seconds, 1), usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.dollars)


def _titled(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines of which the first has a title before it."""
    return (f"{'' if at else title:<10} {line}" for at, line in enumerate(lines))


def _slots(report: Report | None) -> Sequence[str]:
    """Lines on the slots of a cluster."""
    return [] if report is None else [*map(str, report.slots), *report.events]
