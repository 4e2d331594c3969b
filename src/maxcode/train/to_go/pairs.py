"""Recorded runs -> pairs: every reached state, and the result of its paths.

The label is computed as in ``reward.py``: a state has reached u, the steps below it reach G, and the quantity to
predict is ``max(u, G)`` in speed-ups, whose class is taken afterwards.  With gamma = 1, the paper's value, this is its
v*.  With a smaller gamma the paper discounts classes, which then are not classes any more.  So we discount speed-ups,
all from the root: in a state's own unit the reached value would grow with every step without a gain.  A state on
several paths is one pair, with the best of them.  A model sees of a state what was known at that time; its result is
the last evaluation in the record.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, final

import msgspec

from maxcode.code.languages import LANGUAGES
from maxcode.code.source import normalise
from maxcode.core.files import read_file
from maxcode.core.jsonl import LINES
from maxcode.core.reward import speedup
from maxcode.core.types import MachineCode, Program, State, StateId, Step
from maxcode.errors import InputError, RecordError
from maxcode.run.record import EVENTS, HEADER
from maxcode.run.report.run_view import RunView, read_run
from maxcode.search.value import Situation, had, situation

Target = Literal["max", "mean"]
GUIDED = ("+value", "+rerank")


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """One state and its result.

    ``target``      the speed-up that can still be reached, at least u (``max``), or the mean reward of the state and
                    all below it (``mean``, after ReST-RL, without u)
    ``below``       number of states below it; 0: nothing was tried from it, so the target is its own speed-up
    ``batch``, ``parent``  its place in its run
    ``guided``      a value model selected states in its run
    ``off_policy``  another policy than in most runs of its suite
    ``mark``        equal for programs that differ only in comments and layout; ``origin``: that of the original
    """

    problem: str
    suite: str
    run: str
    at: StateId
    parent: StateId
    method: str
    policy: str
    seed: int
    guided: bool
    off_policy: bool
    mark: str
    origin: str
    situation: Situation
    reward: float
    target: float
    below: int


def run_folders(paths: Iterable[Path]) -> list[Path]:
    """The run folders at and below the given ones, in order; raises InputError if there are none.  A run that occurs
    twice, under another name or as a copy, counts once."""
    given = list(paths)
    records = [record for path in given for record in sorted(path.rglob(EVENTS))]
    found: dict[bytes, Path] = {}
    for record in records:
        if (record.parent / HEADER).is_file():
            found.setdefault(hashlib.sha256(read_file(record, LINES)).digest(), record.parent)
    if not found:
        raise InputError(
            f"no run folder at or below {', '.join(map(str, given))}; give --from what `maxcode optimize --out` or "
            "`maxcode bench --out` wrote"
        )
    return list(found.values())


def read_pairs(folders: Iterable[Path], target: Target = "max", gamma: float = 1.0) -> list[Pair]:
    """The pairs of runs, in their order; a run without a finished batch has none.  Raises RecordError for a damaged
    run."""
    pairs = [pair for folder in folders for pair in pairs_of(read_run(folder), target, gamma)]
    policies: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        policies[pair.suite][pair.policy] += 1
    usual = {suite: counts.most_common(1)[0][0] for suite, counts in policies.items()}
    return [replace(pair, off_policy=pair.policy != usual[pair.suite]) for pair in pairs]


def pairs_of(run: RunView, target: Target, gamma: float) -> list[Pair]:
    """The pairs of one run, in (batch, slot) order; none for a run in an unknown language."""
    if run.language not in LANGUAGES:
        return []
    below = _below(list(run.reached), gamma)
    known, original_code = _as_known(run), _original_code(run)
    method, policy = (str(run.header.get(key, "")) for key in ("method", "policy"))
    seed = run.header.get("seed", 0)
    origin = mark(run.language, run.original)
    return [
        Pair(
            run.problem_id,
            _suite(run),
            str(run.folder),
            state.id,
            state.parent.id,
            method,
            policy.removeprefix("llm:maxcode-"),
            seed if isinstance(seed, int) else 0,
            any(word in method for word in GUIDED),
            False,
            mark(run.language, state.program),
            origin,
            situation(known[state.id], gamma, original_code),
            state.reward,
            _target(state, below[state.id], target, gamma),
            below[state.id].count,
        )
        for state in run.reached
        if state.parent is not None
    ]


def _original_code(run: RunView) -> MachineCode | None:
    try:
        return msgspec.convert(run.header.get("machine_code"), MachineCode | None)
    except msgspec.ValidationError as error:
        raise RecordError(f"{run.folder / HEADER} is damaged: machine_code: {error}") from error


def _as_known(run: RunView) -> dict[StateId, State]:
    """Every state as a value model would have seen it: with the evaluator's result, before the referee confirmed or
    refuted anything of its batch; its path as known when it was proposed."""
    slots = [slot for slot in run.slots if slot.settled]
    asked: dict[StateId, set[int]] = defaultdict(set)
    for slot in slots:
        asked[slot.at].add(slot.at[0])
        asked[slot.parent].add(slot.at[0])
    found: dict[tuple[StateId, int], State] = {}
    for slot in slots:
        for batch in asked[slot.at]:
            evaluation = slot.known_in(batch)
            assert slot.action is not None  # it is settled
            assert evaluation is not None
            parent = found.get((slot.parent, slot.at[0]), run.reached.root)
            step = Step(slot.action, evaluation, speedup(evaluation), slot.critique, slot.value)
            found[slot.at, batch] = State(parent.problem, parent, step, slot.at)
    return {at: state for (at, batch), state in found.items() if at[0] == batch}


@final
@dataclass(slots=True)
class _Below:
    """The states below a state: the best discounted reward, their number, and the sum of their rewards."""

    best: float = 0.0
    count: int = 0
    total: float = 0.0


def _below(states: Sequence[State], gamma: float) -> dict[StateId, _Below]:
    found = {state.id: _Below() for state in states}
    for state in reversed(states):  # children come after their parents
        if state.parent is None:
            continue
        mine, above = found[state.id], found[state.parent.id]
        above.best = max(above.best, state.reward, gamma * mine.best)
        above.count += 1 + mine.count
        above.total += state.reward + mine.total
    return found


def _target(state: State, below: _Below, target: Target, gamma: float) -> float:
    if target == "max":
        return max(had(state.steps, gamma), gamma ** len(state.steps) * below.best)
    return (state.reward + below.total) / (1 + below.count)


def _suite(run: RunView) -> str:
    """The group whose edges a run uses: its suite, else its kind of problem."""
    origin = run.header.get("suite")
    if isinstance(origin, dict):
        level = f"-l{origin['level']}" if "level" in origin else ""
        return f"{origin.get('suite')}{level}"
    if "device" in run.header:
        return "modules"
    return "functions" if run.has_rates else "programs"


def mark(language: str, program: Program) -> str:
    """Equal for programs that differ only in comments, layout and file names."""
    text = "\0".join(sorted(normalise(language, text) for text in program.files.values()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
