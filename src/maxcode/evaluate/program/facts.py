"""The facts about an admitted problem that prompts tell: what its admission has run, and the floor of a process."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from maxcode.code.languages import language
from maxcode.core.ahead import computed
from maxcode.core.types import Facts, Problem, TimedInput
from maxcode.evaluate.function.function import Shape
from maxcode.evaluate.inputs.format_model import TEXTS_LEAST, Understood, understand
from maxcode.evaluate.inputs.format_words import NAMES, header, in_words, outwards, ranges
from maxcode.evaluate.inputs.given import text_of
from maxcode.evaluate.inputs.grammar import Shape as Format
from maxcode.evaluate.inputs.growth import BYTES, WORK, Point, growth
from maxcode.evaluate.inputs.rough import in_figures
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.program.lower_bound import floor_of
from maxcode.sandbox.sandbox import Sandbox

_CALLED = (
    "Before {round_of} another process writes all arrays anew: count on the cache that cores share, as far as it holds "
    "them, and not on nearer ones (derived, not measured). In every pass one new process makes all calls of a "
    "size. None is left out: the first pays for the pages that it touches first, and static memory stays for the next. "
    "When it is timed every array begins at a page; elsewhere only the alignment of its elements is sure."
)
_READ_AT_MOST = 300_000  # bytes of the inputs whose format is inferred: more takes long
_NUMBERS_AT_MOST = 16 << 20  # bytes of the inputs whose numbers are read
_HEAD_AT_MOST = 4096  # bytes of the lines that may hold a size
_INTEGER = re.compile(rb"(?<![\w.])-?[0-9]{1,19}(?![\w.])")


async def facts_of_runs(sandbox: Sandbox, admitted: Admitted) -> Facts:
    """Of whole programs: sizes and times of the timed inputs, the floor, the format of the inputs, the growth."""
    floor = await floor_of(sandbox, language(admitted.problem.language))
    timed = admitted.timed
    given = [one for one in admitted.inputs if one.stdin.size]
    known, form = await computed(_form, given)
    points = [Point(one.seconds, _sizes(one, known)) for one in given]
    return Facts(
        timed=await computed(_timed_runs, timed, known.shapes[0].shape if form else None),
        raced=len(admitted.raced),
        start_s=floor.start_s,
        byte_s=floor.byte_s,
        format=form,
        ranges=_ranges(known, timed) if form else "",
        ascii=sum(one.stdin.size for one in given) <= _NUMBERS_AT_MOST and all(map(_is_ascii, given)),
        growth=growth(points),
        threads=_threads(admitted.problem),
    )


def _timed_runs(timed: Sequence[Input], shape: Format | None) -> tuple[TimedInput, ...]:
    """The timed inputs with rough figures, if they are not too long to be read."""
    short = sum(one.stdin.size for one in timed) <= _NUMBERS_AT_MOST
    told = (in_figures(one.stdin.read(), shape) if short else "" for one in timed)
    return tuple(TimedInput(one.seconds, one.stdin.size, what) for one, what in zip(timed, told, strict=True))


def _is_ascii(given: Input) -> bool:
    return given.stdin.read().isascii()


def facts_of_calls(admitted: Admitted) -> Facts:
    """Of a function: the timed sizes with their work, the peak, and how it is called."""
    shapes = [(one, one.workload) for one in admitted.inputs if isinstance(one.workload, Shape)]
    timed = [(one, one.workload) for one in admitted.timed if isinstance(one.workload, Shape)]
    slots = admitted.problem.spec.function_spec.slots
    round_of = "each call" if slots == 1 else f"each round of {slots} calls"
    points = [
        Point(one.seconds / (shape.rounds * slots), {WORK: shape.flop / (shape.rounds * slots)})
        for one, shape in shapes
        if shape.is_told
    ]
    return Facts(
        timed=tuple(_timed_call(one, shape) for one, shape in timed),
        peak_gflops=admitted.peak_gflops,
        growth=growth(points),
        calls=_CALLED.format(round_of=round_of),
        raced=len(admitted.raced),
        threads=_threads(admitted.problem),
        near_gbs=admitted.memory.near / 1e9 if admitted.memory is not None else 0.0,
        far_gbs=admitted.memory.far / 1e9 if admitted.memory is not None else 0.0,
    )


def _timed_call(given: Input, shape: Shape) -> TimedInput:
    calls = shape.rounds * shape.spec.slots
    return TimedInput(given.seconds, sum(shape.array_bytes), shape.size, calls, shape.flop // calls)


def _threads(problem: Problem) -> int:
    """All cores if the goal is wall time; else one, because the CPU time of all threads counts together."""
    return len(os.sched_getaffinity(0)) if problem.goal == "wall" else 1


def _form(given: Sequence[Input]) -> tuple[Understood, tuple[str, ...]]:
    """The format of the smallest inputs, because the others would take long to read, with its words."""
    texts: list[str] = []
    for one in sorted(given, key=lambda one: one.stdin.size):
        text = text_of(one.stdin) if sum(map(len, texts)) + one.stdin.size <= _READ_AT_MOST else None
        if text is None:
            break
        texts.append(text)
    known = understand(texts) if len(texts) >= TEXTS_LEAST else Understood((), why="too few small inputs")
    return known, in_words(known.shapes[0]) if len(known.shapes) == 1 else ()


def _ranges(known: Understood, timed: Sequence[Input]) -> str:
    """What the numbers of the timed inputs are, in words; empty if they are too long to be read."""
    shape = known.shapes[0].shape
    told = [ranges(shape, [header(shape, _beginning(one)) for one in timed])]
    if (span := _numbers(timed)) is not None:
        told.append(f"all their whole numbers lie from {span[0]} to {span[1]} (rounded outwards to powers of ten)")
    return "; ".join(one for one in told if one)


def _numbers(given: Sequence[Input]) -> tuple[str, str] | None:
    """The range of all integers of some inputs, widened to powers of ten; None if they are too long to be read."""
    if sum(one.stdin.size for one in given) > _NUMBERS_AT_MOST:
        return None
    ends = [(min(found), max(found)) for one in given if (found := list(map(int, _INTEGER.findall(one.stdin.read()))))]
    if not ends:
        return None
    return outwards(min(low for low, _ in ends), up=False), outwards(max(high for _, high in ends), up=True)


def _sizes(given: Input, known: Understood) -> dict[str, float]:
    """The bytes of an input, and the integers that it begins with, A, B, C where its format is known."""
    sizes = {BYTES: float(given.stdin.size)}
    if len({one.shape[0] for one in known.shapes}) != 1:
        return sizes
    if len(known.shapes) > 1:  # then prompts tell no format, and names would say nothing
        found = header(known.shapes[0].shape[:1], _beginning(given))
        return sizes | {f"number {at} of the input": float(one) for at, one in enumerate(found, 1)}
    found = header(known.shapes[0].shape, _beginning(given))
    return sizes | {name: float(one) for name, one in zip(NAMES, found, strict=False)}


def _beginning(given: Input) -> str:
    return given.stdin.read(_HEAD_AT_MOST).decode("ascii", "replace")
