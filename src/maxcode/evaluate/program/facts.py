"""The facts about an admitted problem that prompts tell: what its admission has run, and the floor of a process."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import anyio.to_thread

from maxcode.code.languages import language
from maxcode.core.types import Facts, Problem, TimedInput
from maxcode.evaluate.function.function import Shape
from maxcode.evaluate.inputs.format_model import TEXTS_LEAST, Understood, understand
from maxcode.evaluate.inputs.format_words import in_words, outwards
from maxcode.evaluate.inputs.fresh import text_of
from maxcode.evaluate.inputs.grammar import TokenRow, integer, lines_of
from maxcode.evaluate.inputs.growth import BYTES, Point, growth
from maxcode.evaluate.ladder.prepare import Admitted, Input
from maxcode.evaluate.program.lower_bound import floor_of
from maxcode.sandbox.sandbox import Sandbox

_READ_AT_MOST = 300_000  # bytes of the inputs whose format is inferred: more takes long
_NUMBERS_AT_MOST = 16 << 20  # bytes of the inputs whose numbers are read
_HEAD_AT_MOST = 4096  # bytes of the line that may hold a size
_INTEGER = re.compile(rb"(?<![\w.])-?[0-9]{1,19}(?![\w.])")


async def facts_of_runs(sandbox: Sandbox, admitted: Admitted) -> Facts:
    """Of whole programs: sizes and times of the timed inputs, the floor, the format of the inputs, the growth."""
    floor = await floor_of(sandbox, language(admitted.problem.language))
    given = [one for one in admitted.inputs if one.stdin.size]
    known, form = await anyio.to_thread.run_sync(_form, given)
    points = [Point(one.seconds, _sizes(one, known)) for one in given]
    return Facts(
        timed=tuple(TimedInput(one.seconds, one.stdin.size) for one in admitted.timed),
        start_s=floor.start_s,
        byte_s=floor.byte_s,
        format=form,
        growth=growth(points),
        threads=_threads(admitted.problem),
    )


def facts_of_calls(admitted: Admitted) -> Facts:
    """Of a function: the timed sizes with their work, the peak, and how it is called."""
    shapes = [(one, one.workload) for one in admitted.inputs if isinstance(one.workload, Shape)]
    timed = [(one, shape) for one, shape in shapes if one in admitted.timed]
    slots = admitted.problem.spec.function_spec.slots
    held = max((shape.held for _, shape in timed), default=0)
    round_of = "each call" if slots == 1 else f"each round of {slots} calls"
    points = [
        Point(one.seconds / (shape.rounds * slots), {"its flop count": shape.flop / (shape.rounds * slots)})
        for one, shape in shapes
        if shape.is_timed
    ]
    return Facts(
        timed=tuple(_timed_call(one, shape) for one, shape in timed),
        peak_gflops=admitted.peak_gflops,
        growth=growth(points),
        calls=(
            f"Before {round_of} another process writes all arrays anew ({held:,} bytes), so they are in the caches "
            "only as far as a cache that cores share holds them. When it is timed, every array begins at a page."
        ),
        threads=_threads(admitted.problem),
        near_gbs=admitted.memory.near / 1e9 if admitted.memory is not None else 0.0,
        far_gbs=admitted.memory.far / 1e9 if admitted.memory is not None else 0.0,
    )


def _timed_call(given: Input, shape: Shape) -> TimedInput:
    calls = shape.rounds * shape.spec.slots
    return TimedInput(given.seconds, what=shape.size, calls=calls, flop=shape.flop // calls)


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
    words = in_words(known.shapes[0]) if len(known.shapes) == 1 else ()
    if not words or (span := _numbers(given)) is None:
        return known, words
    rest = f"these ranges are those of inputs up to {max(map(len, texts)):,} bytes; "
    rest = rest if len(texts) < len(given) else ""
    return known, (*words, f"{rest}all numbers of all inputs lie from {span[0]} to {span[1]}")


def _numbers(given: Sequence[Input]) -> tuple[str, str] | None:
    """The range of all integers of all inputs, widened to powers of ten; None if they are too long to be read."""
    if sum(one.stdin.size for one in given) > _NUMBERS_AT_MOST:
        return None
    ends = [(min(found), max(found)) for one in given if (found := list(map(int, _INTEGER.findall(one.stdin.read()))))]
    if not ends:
        return None
    return outwards(min(low for low, _ in ends), up=False), outwards(max(high for _, high in ends), up=True)


def _sizes(given: Input, known: Understood) -> dict[str, float]:
    """The bytes of an input, and the integers of its first line where its format begins with a line of them."""
    sizes = {BYTES: float(given.stdin.size)}
    first = known.shapes[0].shape[0] if known.shapes else None
    if not isinstance(first, TokenRow):
        return sizes
    head = given.stdin.read()[:_HEAD_AT_MOST].decode("ascii", "replace").split("\n")[0]
    tokens = (lines_of(head) or [[]])[0]
    numbers = [integer(token) for token in tokens]
    named = {f"number {at} of line 1": float(one) for at, one in enumerate(numbers, 1) if one is not None}
    return sizes | named if len(tokens) == first.width else sizes
