"""Reads a run folder for the report: the first step of a report, which draws nothing.

Final states are made as the loop makes them: ``Settled`` replaces ``Evaluated``, and only settled batches count for the
best.  Any part may be missing: an interrupted or a just started run is shown as far as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.files import read_file
from maxcode.core.history import Reached
from maxcode.core.jsonl import DAMAGED
from maxcode.core.reward import speedup
from maxcode.core.types import (
    Action,
    Evaluation,
    Interval,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    StateId,
    Step,
    Timing,
    Usage,
)
from maxcode.errors import InputError
from maxcode.llm.journal import CALLS, spent_in
from maxcode.run.record import (
    EVENTS,
    HEADER,
    Batch,
    Critiqued,
    Evaluated,
    Line,
    Proposed,
    Settled,
    Stopwatch,
    read_events,
    read_header,
)
from maxcode.run.report.certified import Claimed, read_claim
from maxcode.run.smaller_patch import in_best

ORIGINAL = "original"
RESULT = "result.json"


@final
@dataclass(frozen=True, slots=True)
class Slot:
    """A launched candidate; parts that do not exist yet are None.

    ``evaluation``  the last one in the record
    ``words``       all evaluations in order, as (the batch after which it was made, evaluation); the evaluator's first
    ``settled``     its batch is final

    A slot that was dropped because of a cap was never launched.
    """

    at: StateId
    parent: StateId
    action: Action | None
    evaluation: Evaluation | None
    critique: str
    value: float | None
    settled: bool
    words: tuple[tuple[int, Evaluation], ...] = ()

    def known_in(self, batch: int) -> Evaluation | None:
        """The last evaluation that was known during ``batch``."""
        return next((word for said, word in reversed(self.words) if said < batch), None)

    @property
    def timing(self) -> Timing | None:
        """Its timing, if it was timed."""
        return self.evaluation.timing if self.evaluation is not None else None

    @property
    def outcome(self) -> Outcome | None:
        """Its outcome; None while it is open."""
        return self.evaluation.outcome if self.evaluation is not None else None


@final
@dataclass(frozen=True, slots=True)
class Lead:
    """From candidate number ``since`` (1-based, in (batch, slot) order) on, ``state`` was the best of the run."""

    since: int
    state: State
    interval: Interval


@final
@dataclass(frozen=True, slots=True)
class Winner:
    """The best program and its confirmation.  ``is_smaller``: what does not pay was left out of the candidate."""

    program: Program
    evaluation: Evaluation
    is_smaller: bool = False


@final
@dataclass(frozen=True, slots=True)
class RunView:
    """A run folder.

    ``slots``    in (batch, slot) order; ``reached`` holds the settled ones
    ``started``, ``last``  Unix times; 0 if nothing is recorded
    ``paid``     the cost of models, also the critic's calls
    ``winner``   the best program; None if nothing was faster than the original
    ``claim``    the certificate; None if there is none
    ``closing``  the notes of the finished run
    """

    folder: Path
    header: Mapping[str, object]
    original: Program
    slots: tuple[Slot, ...]
    reached: Reached
    leads: tuple[Lead, ...]
    started: float
    last: float
    seconds: float
    paid: Usage
    winner: Winner | None = None
    claim: Claimed | None = None
    closing: tuple[str, ...] = ()

    @property
    def problem_id(self) -> str:
        """The problem's name in the run, or the folder's name."""
        return str(self.header.get("problem") or self.folder.resolve().name)

    @property
    def language(self) -> str:
        """The language of its programs; empty if it is not recorded."""
        return str(self.header.get("language", ""))

    @property
    def has_rates(self) -> bool:
        """Whether a candidate was timed in GFLOPS: the problem is a function."""
        return any(slot.timing is not None and slot.timing.gflops is not None for slot in self.slots)

    @property
    def notes(self) -> tuple[str, ...]:
        """The run's notes on the original, its tests, and its end."""
        found = self.header.get("notes") or []
        opening = map(str, found if isinstance(found, list) else [found])
        return tuple(dict.fromkeys([*opening, *self.closing]))

    @property
    def open_slots(self) -> int:
        """The number of candidates that were launched and are not final."""
        return sum(1 for slot in self.slots if not slot.settled)

    @property
    def budget(self) -> int | None:
        """The number of candidates that the run may launch, if recorded."""
        found = self.header.get("budget")
        return found if isinstance(found, int) else None


def read_run(folder: Path) -> RunView:
    """The run in ``folder``; raises InputError, with a remedy, if there is none, RecordError if it is damaged."""
    header, lines = _header(folder), _lines(folder)
    original = _program_in(folder / ORIGINAL)
    slots = _slots(lines)
    reached, leads = _reached(header, original, [slot for slot in slots if slot.settled])
    return RunView(
        folder=folder,
        header=header,
        original=original,
        slots=tuple(slots),
        reached=reached,
        leads=tuple(leads),
        started=lines[0].t if lines else 0.0,
        last=lines[-1].t if lines else 0.0,
        seconds=_seconds(lines),
        paid=_paid(folder, slots),
        winner=_winner(folder, original, reached.best),
        claim=read_claim(folder),
        closing=_closing_notes(folder, slots),
    )


def _closing_notes(folder: Path, slots: Sequence[Slot]) -> tuple[str, ...]:
    """The notes of result.json if it covers all these candidates: a resumed run has an older one."""
    try:
        found = _finished(read_file(folder / RESULT))
    except (InputError, *DAMAGED):
        return ()
    is_current = found.candidates == len(slots) and all(slot.settled for slot in slots)
    return found.notes if is_current else ()


class _Finished(msgspec.Struct, frozen=True):
    """The fields of result.json that a report reads."""

    candidates: int = 0
    notes: tuple[str, ...] = ()


_finished = msgspec.json.Decoder(_Finished).decode


def _paid(folder: Path, slots: Sequence[Slot]) -> Usage:
    """The cost from the journal of calls; without one, from the recorded proposals."""
    if (folder / CALLS).is_file():
        return spent_in(folder)
    return sum((slot.action.usage for slot in slots if slot.action is not None), Usage())


def _header(folder: Path) -> dict[str, object]:
    if not (folder / HEADER).is_file() and not (folder / EVENTS).is_file():
        raise InputError(
            f"{folder} is not a run folder: it holds neither {HEADER} nor {EVENTS}; "
            "give the folder that `maxcode optimize --out` wrote"
        )
    return read_header(folder)


def _lines(folder: Path) -> list[Line]:
    if not (folder / EVENTS).is_file():
        return []
    return list(read_events(folder))


def _seconds(lines: Sequence[Line]) -> float:
    watch = Stopwatch()
    for line in lines:
        watch.see(line)
    return watch.seconds


def _winner(folder: Path, original: Program, best: State | None) -> Winner | None:
    """The best state, or the smaller patch in ``best/`` that a command made of it."""
    if best is None or best.step is None:
        return None
    found = in_best(folder, original, best.program)
    return Winner(best.program, best.step.evaluation) if found is None else Winner(*found, is_smaller=True)


def _program_in(root: Path) -> Program:
    """The files of a program; none if the run folder has no copy of them."""
    paths = sorted(path for path in root.rglob("*") if path.is_file()) if root.is_dir() else []
    return Program({path.relative_to(root).as_posix(): read_file(path).decode(errors="replace") for path in paths})


def _slots(lines: Sequence[Line]) -> list[Slot]:
    actions = {line.at: line.action for line in lines if isinstance(line, Proposed)}
    evaluations = {line.at: line.evaluation for line in lines if isinstance(line, Evaluated)}
    critiques = {line.at: line.critique for line in lines if isinstance(line, Critiqued)}
    settled = {line.batch: line for line in lines if isinstance(line, Settled)}
    batches = {line.batch: line for line in lines if isinstance(line, Batch)}
    refuted = {
        at: (line.batch, anew) for line in settled.values() if line.champion is not None for at, anew in [line.champion]
    }
    found: list[Slot] = []
    for batch in sorted(batches):
        end = settled.get(batch)
        out = set(end.dropped if end is not None else ())
        out |= {slot for (number, slot), action in actions.items() if number == batch and action.no_gain}
        values = iter(end.values if end is not None else ())
        for slot, parent in enumerate(batches[batch].parents):
            if slot in out:
                continue
            at = (batch, slot)
            words = [(batch - 1, evaluations[at])] if at in evaluations else []
            words += [(batch, end.evaluations[slot])] if end is not None and slot in end.evaluations else []
            words += [refuted[at]] if at in refuted else []
            value = next(values, None)
            evaluation = words[-1][1] if words else None
            final = end is not None and evaluation is not None and at in actions
            critique = critiques.get(at, "")
            found.append(Slot(at, parent, actions.get(at), evaluation, critique, value, final, tuple(words)))
    return found


def _reached(header: Mapping[str, object], original: Program, settled: Sequence[Slot]) -> tuple[Reached, list[Lead]]:
    """The states, and each change of the best of the run."""
    identity, language = str(header.get("problem", "")), str(header.get("language", ""))
    reached = Reached(State(Problem(identity, "program", language, original, ProgramSpec())))
    states = {reached.root.id: reached.root}
    leads: list[Lead] = []
    for number, slot in enumerate(settled, start=1):
        state = states[slot.at] = _state(reached.root, states.get(slot.parent, reached.root), slot)
        before = reached.best
        reached.extend([state])
        if reached.best is not before and slot.timing is not None:
            leads.append(Lead(number, state, slot.timing.speedup))
    return reached, leads


def _state(root: State, parent: State, slot: Slot) -> State:
    assert slot.action is not None  # it is settled
    assert slot.evaluation is not None
    step = Step(slot.action, slot.evaluation, speedup(slot.evaluation), slot.critique, slot.value)
    return State(root.problem, parent, step, slot.at)
