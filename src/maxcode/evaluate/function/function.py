"""The harness ``function``: what is compiled around a function, where its inputs come from, and when outputs agree.

What is trusted: the kernel, the shim (process 1: it holds the clock, hands over the inputs of one round after the
other, poisons and copies the outputs, and watches the guards), the user's own header and inputs, and this process,
which compares.  What is not: the process that the candidate runs in, our driver included.  It holds no expected value,
no later input and no clock that counts; all processor time that it uses between its first call and its last is charged,
by whichever thread; it cannot start another process.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, final

import anyio
import anyio.to_thread

from maxcode.code.expressions import value_of
from maxcode.core.turns import Once, Turns
from maxcode.core.types import Checker, FunctionSpec, Limits, Problem
from maxcode.errors import InputError
from maxcode.evaluate.function.comparing import distance, first_difference
from maxcode.evaluate.function.glue import empty_driver, generator_glue
from maxcode.evaluate.function.habits import HABITS, NAMES, SUMS_LOSE, USUAL, word_of
from maxcode.evaluate.function.start import Start
from maxcode.sandbox.jobs import Blob, Job, Ran
from maxcode.sandbox.lanes import also_in_timing_lane, build_lane
from maxcode.sandbox.sandbox import Mounts, Sandbox

Kept = TypeVar("Kept")  # of a run
_WIDTHS = {"double": 8, "float": 4, "int": 4, "long": 8}
_KINDS = {"in": 0, "out": 1, "inout": 2, "scratch": 2}
_HERE = Path(__file__).parent
CALLS_FLOOR_S = 0.002
LEAST_ROUNDS = 2  # of calls on values beyond those drawn
_GENERATOR_FLAGS = ("-std=gnu17", "-O2")
_AHEAD_BYTES = 32 << 20  # of plans that wait
_KEY_BYTES = 64  # of the values, and of the seeds given to inputs.c
_SMALLER = "; where no such sizes or values can come, say so with `domain` in problem.toml"
_LOST = "; an algorithm that adds over the whole array loses digits beside the far values"
_NARROWER = "; where no such values can come, say so with `domain` in problem.toml"


@final
@dataclass(frozen=True, slots=True)
class Shape:
    """One size of a function: what a round of calls consists of.  ``sizes`` are the scalar arguments; ``offset`` is
    how many bytes behind the start of a page every array begins.  ``habits``: how the values of each array are drawn
    where it is not the usual way (``habits.py``); ``main``: which of them it is about; ``number`` tells them apart;
    ``unusual``: how many of the calls are so, none of the ``first`` ones; ``bits``: bound on
    whole numbers of any size, 0: their type's."""

    spec: FunctionSpec
    sizes: tuple[int, ...]
    rounds: int = 1
    offset: int = 0
    habits: tuple[str, ...] = ()
    number: int = 0
    main: str = ""
    unusual: int = LEAST_ROUNDS
    first: int = 0
    bits: int = 0

    @property
    def size(self) -> str:
        """The size in words, ``m=256 n=256 k=256``."""
        return " ".join(f"{one.name}={size}" for one, size in zip(self.spec.scalars, self.sizes, strict=True))

    @property
    def name(self) -> str:
        """The size, and how values are drawn where it is another way than usual; no two inputs of a verification may
        have one name."""
        ways = [
            f"{one.name} {NAMES[habit]}"
            for one, habit in zip(self.spec.arrays, self.habits, strict=False)
            if habit != USUAL
        ]
        if self.is_moved:
            return f"{self.size}, arrays {self.offset} bytes behind the start of a page"
        if ways:
            return f"{self.size}, values beyond those drawn {self.number} ({', '.join(ways)})"
        return f"{self.size}, beyond the given sizes {self.number}" if self.habits else self.size

    @property
    def is_moved(self) -> bool:
        """Whether it is a size to time, at other addresses than where it is timed."""
        return self.offset != 0 and not self.habits and self.sizes in self.spec.timed

    @property
    def array_bytes(self) -> tuple[int, ...]:
        """The sizes of the arrays, in order."""
        return tuple(_WIDTHS[one.ctype] * self._value(one.extent) for one in self.spec.arrays)

    @property
    def flop(self) -> int:
        """The work of all calls of a pass."""
        return self._value(self.spec.flop) * self.rounds * self.spec.slots

    @property
    def moved(self) -> int:
        """The bytes that all calls of a pass must move, 0 where the problem does not say."""
        return self._value(self.spec.moved) * self.rounds * self.spec.slots if self.spec.moved else 0

    @property
    def held(self) -> int:
        """The bytes of the arrays of a round."""
        return sum(self.array_bytes) * self.spec.slots

    @property
    def memory_mb(self) -> int:
        """Room for the arrays of a round."""
        return (self.held >> 20) + 1

    def output_mb(self, limits: Limits) -> int:
        """Room for the arrays of all rounds; the program can read this limit, so one round gets as much as the two
        that calls on values beyond those drawn have at least."""
        return 1 + self.memory_mb * max(LEAST_ROUNDS, self.rounds)

    @property
    def called(self) -> bool:
        """Process 1 calls it and holds the clock."""
        return True

    @property
    def floor_s(self) -> float:
        """Of all calls in a pass, whose clock leaves out the start."""
        return CALLS_FLOOR_S

    @property
    def longer(self) -> str:
        """What makes it take longer."""
        return "larger sizes, or more calls"

    @property
    def is_timed(self) -> bool:
        """A size to time, not on values beyond those drawn, nor at other addresses."""
        return self.sizes in self.spec.timed and not self.habits and not self.offset

    @property
    def is_told(self) -> bool:
        """A size that the problem names, with usual values: prompts may tell of it."""
        return self.is_timed or (self.sizes in self.spec.checked and not self.habits)

    def answers(self, output: bytes) -> Iterator[bytes]:
        """What each call gave, in order."""
        each = len(output) // (self.rounds * self.spec.slots)
        return (output[at : at + each] for at in range(0, len(output), each or 1))

    async def difference(self, checker: Checker, expected: bytes, output: bytes) -> str | None:
        """Its own ``disagreement``; functions have no checker."""
        return advised(self, await anyio.to_thread.run_sync(disagreement, self, expected, output))

    def incomparable(self, expected: bytes) -> str | None:
        """NaN and infinity equal nothing, themselves included."""
        return disagreement(self, expected, expected)

    @property
    def values(self) -> dict[str, int]:
        """The sizes by name."""
        return dict(zip((one.name for one in self.spec.scalars), self.sizes, strict=True))

    def _value(self, expression: str) -> int:
        return value_of(expression, self.values)


def spec_of(problem: Problem) -> FunctionSpec:
    """What the problem says of its function."""
    return problem.spec.function_spec


# ------------------------------------------------------------------------------------------------------------ inputs


@final
class Inputs:
    """Makes fresh inputs for the calls of a problem; its generator is compiled once."""

    def __init__(self, sandbox: Sandbox, problem: Problem) -> None:
        self.sandbox = sandbox
        self._spec = spec_of(problem)
        self._generator = Once(self._build)
        self._start = Start(sandbox, problem, empty_driver(self._spec, problem.language))
        self._ready: dict[Shape, float] = {}
        self._waiting: dict[Shape, list[bytes]] = {}
        self._making = Turns()

    async def fresh(self, shape: Shape, ahead: int = 1) -> Blob:
        """The plan of a shape's calls with inputs nobody has seen; InputError when the user's inputs.c fails.

        ``ahead``: how many plans at most to make together where none is waiting.  Each is handed out once.
        """
        return Blob.of((await self._some(shape, ahead)).pop())

    async def ahead(self, shapes: Sequence[Shape], count: int) -> None:
        """Makes what ``fresh`` and ``ready_s`` need, where nothing is waiting, in a place to build or, if that is held
        by what works ahead, in the timing lane."""
        if self._start.is_built and all(self._waiting.get(shape) for shape in shapes):
            return
        with also_in_timing_lane():
            async with build_lane():
                await self._start.built()
                for shape in shapes:
                    await self._some(shape, count)

    async def _some(self, shape: Shape, count: int) -> list[bytes]:
        """The plans of a shape that wait, at least one; ``count`` at most are made where there are none."""
        waiting = self._waiting.setdefault(shape, [])
        async with self._making.of(shape.name):
            if not waiting:
                held = shape.rounds * shape.spec.slots * sum(_read_bytes(shape))
                waiting += await self._plans(shape, max(1, min(count, _AHEAD_BYTES // max(1, held))))
        return waiting

    async def fresh_each(self, shapes: Sequence[Shape]) -> list[Blob]:
        """A plan for each of the shapes, with inputs nobody has seen; all are made in one session."""
        return await self._made(shapes, lambda ran: Blob.of(ran.stdout)) if shapes else []

    async def require_fresh(self, shape: Shape) -> None:
        """InputError when two plans of a shape hold the same inputs, whatever the seed."""
        first, second = await self._plans(shape, 2)
        if first == second and sum(_read_bytes(shape)) > 0:
            raise InputError(
                f"two fresh inputs of {self._spec.name} at {shape.name} are the same, byte for byte: a function could "
                "keep the results of an earlier call; make the values that inputs.c writes depend on its `seed`"
            )

    async def own_arrays(self) -> frozenset[str]:
        """The arrays that inputs.c writes, whose values are therefore its business."""
        size = next(iter((*self._spec.timed, *self._spec.checked)))
        shape = Shape(self._spec, size, habits=tuple(HABITS)[:1] * len(self._spec.arrays))
        (letters,) = await self._made([shape], lambda ran: ran.stderr.decode(errors="replace"))
        return frozenset(one.name for one, letter in zip(self._spec.arrays, letters, strict=False) if letter == USUAL)

    async def _plans(self, shape: Shape, count: int) -> list[bytes]:
        return await self._made([shape] * count, lambda ran: ran.stdout)

    async def _made(self, shapes: Sequence[Shape], kept: Callable[[Ran], Kept]) -> list[Kept]:
        """What is kept of the runs of the generator, one for each shape."""
        generator = await self._generator.get()
        found: list[Kept] = []
        with ExitStack() as own:
            keys = [own.enter_context(Blob.of(secrets.token_bytes(_KEY_BYTES))) for _ in shapes]
            async with self.sandbox.session([generator, *keys], bare=True) as session:
                for shape, key in zip(shapes, keys, strict=True):
                    ran = await session.run(self._job(generator, shape, key))
                    if not ran.ok:
                        raise InputError(
                            f"the inputs of {self._spec.name} at {shape.name} failed ({ran.ending} {ran.code}); see "
                            "inputs.c"
                        )
                    found.append(kept(ran))
        return found

    def _job(self, generator: Blob, shape: Shape, keys: Blob) -> Job:
        arrays = self._spec.arrays
        habits = shape.habits or USUAL * len(arrays)
        words = (word_of(self._spec, one, habit, shape.values) for one, habit in zip(arrays, habits, strict=True))
        drawn = (shape.unusual, shape.first, shape.bits)
        numbers = (shape.rounds, shape.spec.slots, shape.offset, *drawn, *shape.sizes, *shape.array_bytes)
        kinds = (_KINDS[one.access] for one in arrays)
        argv = ("{artefact}", *map(str, (*numbers, *kinds)), *words)
        return Job(argv=argv, artefact=generator, stdin=keys, cpu_s=60, output_mb=2048)

    async def ready_s(self, shape: Shape) -> float:
        """CPU seconds that a program needs before its first call when it does nothing of its own there."""
        if shape not in self._ready:
            with await self.fresh(shape) as plan:
                self._ready[shape] = await self._start.least_s(plan)
        return self._ready[shape]

    async def _build(self) -> Blob:
        sources = {name: (_HERE / name).read_text() for name in ("generator.c", "stream.h")}
        sources["glue.c"] = generator_glue(self._spec)
        if self._spec.inputs:
            sources["inputs.c"] = self._spec.inputs
        compiled = (f"/src/{name}" for name in sources if name.endswith(".c"))
        argv = ("gcc", *_GENERATOR_FLAGS, *compiled, "-lm", "-o", "/tmp/out")
        async with self.sandbox.session([], Mounts(sources)) as session:
            ran = await session.run(Job(argv, cpu_s=60, output_mb=64, collect=("/tmp/out",)))
        if not ran.ok or "/tmp/out" not in ran.files:
            words = ran.stderr.decode(errors="replace").strip()
            raise InputError(f"the inputs of {self._spec.name} do not build:\n{words[:2000]}")
        return Blob.of(ran.files["/tmp/out"])


# -------------------------------------------------------------------------------------------------------- comparing


def disagreement(shape: Shape, expected: bytes, got: bytes) -> str | None:
    """The first written array whose relative Frobenius error exceeds the tolerance, in words; None when none does.

    ||got - expected|| / ||expected||, over a whole array of one call, so that one wrong element of a large array counts
    with its share of the norm; NaN exceeds everything.  Whole numbers must be the same, byte for byte, unless the
    problem gives a tolerance for their array.  ``elementwise.py`` takes a second look.
    """
    if len(got) != len(expected):
        return f"{len(got)} bytes of output in place of {len(expected)}"
    exact = {one.name for one in shape.spec.arrays if one.ctype in ("int", "long")} - dict(shape.spec.tolerances).keys()
    for number, name, part, ctype in written_arrays(shape):
        want, have = expected[part], got[part]
        if name in exact:
            if want == have:
                continue
            return f"{name} at {call_of(shape, number)}: {first_difference(ctype, want, have)}"
        norm = distance(ctype, want, None) or 1.0
        error = math.nan if not math.isfinite(norm) else 0.0 if want == have else distance(ctype, want, have) / norm
        if not error <= (most := shape.spec.tolerance_of(name)):
            return f"{name} at {call_of(shape, number)}: relative error {error:.1e}, at most {most:g}"
    return None


def advised(shape: Shape, wrong: str | None) -> str | None:
    """What is wrong, with what the user can do where it is so on values, or at a size, beyond those given."""
    if not wrong or not shape.habits:
        return wrong
    ends = [max(sizes) for sizes in zip(*shape.spec.timed, *shape.spec.checked, strict=True)]
    larger = [
        f"{one.name}={size} is beyond the largest given one, {one.name}={end}"
        for one, size, end in zip(shape.spec.scalars, shape.sizes, ends, strict=True)
        if size > end
    ]
    if not larger and shape.sizes not in (*shape.spec.timed, *shape.spec.checked):
        larger = [f"no given sizes are in the proportions of {shape.size}"]
    is_lossy = {*shape.habits} & SUMS_LOSE and any(one.ctype in ("double", "float") for one in shape.spec.arrays)
    cause = ", as may the values" if shape.main else ""
    also = f"; {' and '.join(larger)}, which may be the cause{cause}" if larger else ""
    return f"{wrong}{also}{_LOST if is_lossy else ''}{_NARROWER if not larger else _SMALLER}"


def call_of(shape: Shape, number: int) -> str:
    """Which call it was, in words."""
    return f"{shape.size}, call {number}"


def _read_bytes(shape: Shape) -> Iterator[int]:
    return (size for one, size in zip(shape.spec.arrays, shape.array_bytes, strict=True) if one.access != "out")


def plan_bytes(shape: Shape) -> int:
    """How many bytes of a plan come before the inputs (``shim_calls.h``)."""
    told = 2 + len(shape.spec.scalars) + len(shape.spec.arrays)
    return 16 + 16 * len(shape.spec.arrays) + 8 * (1 + told)


def read_arrays(shape: Shape, at: int = 0) -> Iterator[tuple[str, slice]]:
    """(element type, where its bytes are) of all arrays that are read, in order, from ``at`` on."""
    for _ in range(shape.rounds * shape.spec.slots):
        for one, size in zip(shape.spec.arrays, shape.array_bytes, strict=True):
            if one.access != "out":
                yield one.ctype, slice(at, at + size)
                at += size


def written_arrays(shape: Shape) -> Iterator[tuple[int, str, slice, str]]:
    """(number of the call, array, where its bytes are, element type) of all results of the calls, in order."""
    at = 0
    for call in range(shape.rounds * shape.spec.slots):
        for one, size in zip(shape.spec.arrays, shape.array_bytes, strict=True):
            if one.access in ("out", "inout"):
                yield call + 1, one.name, slice(at, at + size), one.ctype
            at += size if one.access != "in" else 0
