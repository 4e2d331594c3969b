"""Makes a corpus: kernels from chains of legal transformations, each a demonstration for a prompt.

    original -> step -> kernel -> step -> kernel ...      (policy/rules/kernels: only steps that keep the result)

An example is a prompt in the form that training uses, and its kernel, or the schedule that makes it.  The prompt holds
the problem and a set of permitted techniques: those that the kernel uses and some more, so that a permission is no
command; without stages it permits what the problem does.  Half of the prompts also hold an earlier kernel of the same
chain, so that a policy learns to improve one.  Of schedules, half of those are such that went on in another way: there
the policy learns to replace the last steps.
LOOPRAG (arXiv 2512.15766) builds its demonstrations from legal transformations too; the form is ours.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, final

import msgspec

from maxcode.code.source import fingerprint
from maxcode.code.techniques import cell, used
from maxcode.core.files import read_file, write_whole
from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program
from maxcode.errors import InputError, MachineError
from maxcode.policy.rules.kernels.schedule import Taken, needs, offers, walk, written
from maxcode.search.archive import Archive, Cell, Kept
from maxcode.train.config import CorpusTable
from maxcode.train.diversity import BEFORE
from maxcode.train.measuring import MeasureRequest, Measuring
from maxcode.train.prompts import Compact, Scheduled, on_one_core, plain_layout, steps_on_one_core
from maxcode.train.rewards import rate

EXTRA, SHOWN = 0.3, 0.5  # probability of a further technique; of an earlier kernel in the prompt
OTHER, TURN = 0.5, 2  # probability of another end of the schedule that is shown, and the most steps of an end

Completion = Literal["text", "schedule"]
_Maker = Callable[[Problem, Sequence[Taken], random.Random, CorpusTable], "Example"]


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and its kernel, in plain layout; ``cell``: its cell in an archive.  ``schedule``: the one that makes the
    kernel, if the policy writes schedules."""

    problem: str
    prompt: str
    kernel: str
    cell: Cell = ()
    schedule: str = ""

    @property
    def completion(self) -> str:
        """What the policy is to write."""
        return self.schedule or self.kernel


def examples(
    problems: Sequence[Problem], table: CorpusTable, seed: int, completion: Completion = "text", staged: bool = True
) -> Iterator[Example]:
    """``table.kernels`` examples, the problems in turn; the same seed gives the same examples.  ``staged``: whether
    prompts permit only some techniques, as the stages of a training do."""
    generator = random.Random(seed)
    made = _scheduled if completion == "schedule" else _written
    left = {problem.id: _of(problem, table, generator, partial(made, staged=staged)) for problem in problems}
    for number in range(table.kernels):
        yield next(left[problems[number % len(problems)].id])


def at_random(problem: Problem, table: CorpusTable, generator: random.Random, begin: str = "") -> list[Taken]:
    """Random legal steps after the schedule ``begin``, at most as many as the corpus has with those before, or ``TURN``
    if that is more; empty if no step is possible."""
    allowed = steps_on_one_core(problem, table.templates)
    steps = generator.randint(1, max(table.steps - len(begin.splitlines()), min(TURN, table.steps)))
    return list(walk(problem.program.text, problem.language, generator, steps, allowed, begin))


def _of(problem: Problem, table: CorpusTable, generator: random.Random, made: _Maker) -> Iterator[Example]:
    original = problem.program.text
    allowed = steps_on_one_core(problem, table.templates)
    if not offers(problem.language, original, allowed, original):
        raise InputError(f"{problem.id} has no corpus: no step of the kernels policy is possible; leave it out")
    while True:
        taken = [Taken("", original), *walk(original, problem.language, generator, table.steps, allowed)]
        for at in range(1, len(taken)):
            yield made(problem, taken[: at + 1], generator, table)


def _written(
    problem: Problem, taken: Sequence[Taken], generator: random.Random, table: CorpusTable, staged: bool
) -> Example:
    """The example of the last kernel of a chain, as a text."""
    *earlier, kernel = (one.program for one in taken)
    shown = [generator.choice(earlier)] if generator.random() < SHOWN else []
    needed = frozenset[str]().union(*(used(problem.language, text) for text in (*shown, kernel)))
    kept = [Kept(cell(problem.language, text), Program({"": text}), 0.0, 0) for text in shown]
    asked = Compact().ask(_staged(problem, needed, generator) if staged else problem, kept)
    return Example(problem.id, asked, plain_layout(kernel) + "\n", cell(problem.language, kernel))


def _scheduled(
    problem: Problem, taken: Sequence[Taken], generator: random.Random, table: CorpusTable, staged: bool
) -> Example:
    """The example of the last kernel of a chain, as a schedule; the shown one is its beginning, or begins like it."""
    schedule, kernel = written(one.label for one in taken[1:]), taken[-1].program
    count = generator.randrange(1, len(taken) - 1) if len(taken) > 2 and generator.random() < SHOWN else 0
    shown = list(taken[1 : count + 1])
    if count and generator.random() < OTHER:
        allowed = steps_on_one_core(problem, table.templates)
        begin, most = written(one.label for one in shown), generator.randint(1, TURN)
        shown += walk(taken[0].program, problem.language, generator, most, allowed, begin)
    kept = [Kept((), Program({"": one.program}), 0.0, 0, written(each.label for each in shown)) for one in shown[-1:]]
    needed = [needs(written(one.label for one in (*taken[1:], *shown)))]
    needed += [used(problem.language, text) for text in (kernel, *(one.program for one in shown[-1:]))]
    permits = _staged(problem, frozenset[str]().union(*needed), generator) if staged else problem
    asked = Scheduled(table.templates).ask(permits, kept)
    return Example(problem.id, asked, plain_layout(kernel) + "\n", cell(problem.language, kernel), schedule)


def _staged(problem: Problem, needed: frozenset[str], generator: random.Random) -> Problem:
    """The problem with a permission for what is needed, and for some more."""
    more = {name for name in sorted(on_one_core(problem)) if generator.random() < EXTRA}
    return replace(problem, permitted=needed | more)


def distinct(found: Sequence[Example]) -> list[Example]:
    """The first example of every kernel."""
    first: dict[tuple[str, str], Example] = {}
    for one in found:
        first.setdefault((one.problem, one.kernel), one)
    return list(first.values())


async def verify(
    found: Sequence[Example], problems: Sequence[Problem], measuring: Measuring, count: int, seed: int
) -> list[tuple[Example, Evaluation]]:
    """Evaluates ``count`` distinct kernels, evenly spread; leaves out those for which the machine failed.

    Raises MachineError if one is not correct, because the corpus must contain only correct kernels, or if the machine
    failed for all."""
    drawn = random.Random(seed).sample(kernels := distinct(found), min(count, len(kernels)))
    by_id = {problem.id: problem for problem in problems}
    asked = [
        MeasureRequest(by_id[one.problem], Action(by_id[one.problem].program.with_text(one.kernel))) for one in drawn
    ]
    batch = await measuring.measure(0, asked, range(len(asked)))
    evaluated = [(one, known) for one, known in zip(drawn, batch.evaluations, strict=True) if known is not None]
    for one, known in evaluated:
        if known.outcome is not Outcome.CORRECT:
            raise MachineError(
                f"a kernel of the corpus is {known.outcome.value} ({'; '.join(known.feedback.reasons)}): a legal "
                f"transformation is wrong, or this machine is faulty; the kernel:\n{one.kernel}"
            )
    if drawn and not evaluated:
        raise MachineError(
            f"none of {len(drawn)} kernels of the corpus could be measured: the machine failed, or other work "
            "disturbed it; end that, then repeat the command"
        )
    return evaluated


def write(path: Path, found: Sequence[Example]) -> None:
    """Writes one JSON object a line, completely or not at all."""
    write_whole(path, "".join(json.dumps(asdict(one)) + "\n" for one in found).encode())


def load(path: Path) -> list[Example]:
    """Reads the file of ``write``."""
    return [msgspec.json.decode(line, type=Example) for line in read_file(path).splitlines()]


@final
@dataclass(frozen=True, slots=True)
class Beyond:
    """The part of an archive that is not in its corpus: number of kernels (up to layout) and of cells, with totals."""

    kernels: int
    of_kernels: int
    cells: int
    of_cells: int
    best: bool  # whether its best kernel is one of them


def beyond(found: Sequence[Example], archive: Archive, problem: Problem) -> Beyond:
    """Compares an archive with the corpus of its policy."""
    mine = [one for one in found if one.problem == problem.id]
    known = {_mark(problem, one.kernel) for one in mine}
    cells = {one.cell for one in mine}
    kept = {one.program.digest: one for one in archive}.values()
    new = {one.program.digest for one in kept if _mark(problem, one.program.text) not in known}
    best = archive.best
    return Beyond(
        len(new),
        len(kept),
        len({one.cell for one in kept} - cells),
        len({one.cell for one in kept}),
        best is not None and best.program.digest in new,
    )


def _mark(problem: Problem, text: str) -> str:
    return fingerprint(problem.program.with_text(text).files, problem.language)


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a corpus after some of its kernels were evaluated: these, by problem, and the best rate (GFLOPS
    or a speed-up; 0 if none was evaluated)."""

    kernels: int
    distinct: int
    best: float
    measured: dict[str, list[Kept]]


def verified(
    found: Sequence[Example], evaluated: Sequence[tuple[Example, Evaluation]], problems: Sequence[Problem]
) -> Verified:
    """The summary of a corpus and of what ``verify`` returned."""
    measured: dict[str, list[Kept]] = {}
    originals = {problem.id: problem.program for problem in problems}
    for one, evaluation in evaluated:
        known = rate(evaluation)
        if known is not None:
            program = originals[one.problem].with_text(one.kernel)
            kept = Kept(one.cell, program, known.value, BEFORE, one.schedule)
            measured.setdefault(one.problem, []).append(kept)
    best = max((one.quality for kept in measured.values() for one in kept), default=0.0)
    return Verified(kernels=len(found), distinct=len(distinct(found)), best=best, measured=measured)
