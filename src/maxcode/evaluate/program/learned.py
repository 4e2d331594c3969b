"""What the admission of a program or a function found out, in the form in which it is kept for later commands.

Kept are properties of the original: on which inputs it has an answer, the answers, which of the inputs are long enough
to time, and what prompts tell; and the roofs of the machine, the best of many tries while nothing else was timed.  None
of it decides a race: there the original runs beside the candidate.  Drawn anew by every command, and never kept, are
the values of every timed pass of a function, the fresh inputs of a winner, and all keys.

Whoever sees verdicts alone learns no more from the same inputs in several commands than from those of one run, whose
candidates are all verified on the same.  Still none is used for longer than a day.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

from maxcode.core.types import Evaluation, Facts, Problem
from maxcode.evaluate.function.function import Shape
from maxcode.evaluate.ladder.build import Built
from maxcode.evaluate.ladder.interpreter import binds_of, tongue_of
from maxcode.evaluate.ladder.kept_admissions import SYSTEM, stamps
from maxcode.evaluate.ladder.kept_builds import libraries, tools_and_system
from maxcode.evaluate.ladder.prepare import Admitted, Input, InputSource, command_files, read_inputs
from maxcode.evaluate.ladder.workload import WHOLE_RUN
from maxcode.evaluate.machine.roofline import Bandwidth
from maxcode.sandbox.sandbox import Blob

FOLDER = "admissions"  # of the cache
MOST_S = 24 * 3600.0


@final
@dataclass(frozen=True, slots=True)
class _Asked:
    """An input of ``prepare.Input``; ``shape``: its calls, None for a whole program."""

    name: str
    stdin: bytes
    expected: bytes
    origin: str
    seconds: float
    shape: Shape | None

    @classmethod
    def of(cls, given: Input) -> _Asked:
        assert given.expected is not None
        shape = given.workload if isinstance(given.workload, Shape) else None
        return cls(given.name, given.stdin.read(), given.expected, given.origin, given.seconds, shape)

    def given(self) -> Input:
        return Input(self.name, Blob.of(self.stdin), self.expected, self.origin, self.seconds, self.shape or WHOLE_RUN)


@final
@dataclass(frozen=True, slots=True)
class Learned:
    """The fields of ``prepare.Admitted`` with these names.  ``timed``: names.  ``all_s``: wall seconds of the
    admission."""

    inputs: tuple[_Asked, ...]
    timed: tuple[str, ...]
    baseline: Evaluation
    notes: tuple[str, ...]
    peak_gflops: float
    memory: Bandwidth | None
    facts: Facts
    reads_unwritten: bool
    all_s: float

    @classmethod
    def of(cls, admitted: Admitted, all_s: float) -> Learned:
        return cls(
            tuple(map(_Asked.of, admitted.inputs)), tuple(given.name for given in admitted.timed), admitted.baseline,
            admitted.notes, admitted.peak_gflops, admitted.memory, admitted.facts, admitted.reads_unwritten, all_s,
        )  # fmt: skip

    def admitted(self, problem: Problem, original: Built, source: InputSource) -> Admitted:
        """The admission again."""
        assert original.artefact is not None
        inputs = tuple(source.looked_at_twice(one.given(), original.artefact) for one in self.inputs)
        named = {given.name: given for given in inputs}
        return Admitted(
            problem, inputs, tuple(named[name] for name in self.timed), original, self.baseline, notes=self.notes,
            source=source, peak_gflops=self.peak_gflops, memory=self.memory, facts=self.facts,
            reads_unwritten=self.reads_unwritten, saved_s=self.all_s,
        )  # fmt: skip


def is_lasting(admitted: Admitted) -> bool:
    """Whether an admission may be kept.  Not one that dropped a test, or has nothing to time: on a machine that is less
    busy it may come out otherwise."""
    return bool(admitted.timed) and not admitted.dropped


def size_of(admitted: Admitted) -> int:
    """The bytes of what is kept of it, nearly: of its inputs and their answers."""
    return sum(given.stdin.size + len(given.expected or b"") for given in admitted.inputs)


def parts(problem: Problem, original: Blob, runtime: str) -> dict[str, Iterable[str]]:
    """What an admission rests on besides what each does, the files that ``identity`` knows by name alone among it; read
    when it is asked for, which takes a while.
    ``runtime``: the copy of the language's runtime, whose name changes with its files."""
    return {
        "the original's build": (original.sha256,),
        "a test": _tests(problem),
        "a file of the generator or the checker": _commands(problem),
        SYSTEM: _system(problem, runtime),
        "a file of the virtual environment": stamps(str(folder) for folder, _ in binds_of(problem)),
    }


def _commands(problem: Problem) -> Iterator[str]:
    commands = (*problem.spec.generator, *problem.spec.checker.command)
    for name, data in command_files(problem.spec.folder, commands).items():
        yield f"{name} {hashlib.sha256(data).hexdigest()}"


def _system(problem: Problem, runtime: str) -> Iterator[str]:
    yield runtime
    yield from tools_and_system(tongue_of(problem).tools[0])
    yield from libraries()


def _tests(problem: Problem) -> Iterator[str]:
    for given in read_inputs(problem):
        with given.stdin:
            yield f"{given.stdin.sha256} {hashlib.sha256(given.expected or b'').hexdigest()} {given.expected is None}"
