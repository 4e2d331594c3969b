"""The workload amplifier: larger inputs for an original that ends too soon to be timed.

They come from the user's generator if its command takes ``{size}``; else from given inputs whose format is understood:
their lines or cases are repeated, drawn again where that is free, and the counts are adjusted.  They grow four times at
a time, until a run is long enough or a limit is reached.  The original is the oracle, under the same conditions as for
other fresh inputs, except for its use of time and memory, which is meant to grow.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial
from typing import final

from maxcode.core.ahead import computed
from maxcode.errors import InputError
from maxcode.evaluate.inputs.enlarge import larger
from maxcode.evaluate.inputs.format_model import Understood
from maxcode.evaluate.inputs.given import text_of, understood
from maxcode.evaluate.inputs.proving import LARGER, Candidate, Prover
from maxcode.evaluate.inputs.unusual import is_possible, stated
from maxcode.evaluate.ladder.original_runs import step
from maxcode.evaluate.ladder.prepare import TIMED_FLOOR_S, Admitted, Input, choose_timed, generate
from maxcode.sandbox.sandbox import Blob, Sandbox

_GROWTH = 4
ENLARGED = "timed on inputs made larger"
_WANTED_S = 1.5 * TIMED_FLOOR_S  # a run at the floor would be below it half of the time
_TEXT_AT_MOST, _INPUT_AT_MOST = 8 << 20, 64 << 20  # bytes: of a text whose format is inferred, of any text
_GROWN_AT_MOST = 12  # times
_BASES = 3
_COPIES = 2
_LIMIT_SHARE = 3  # a run ends within a third of its limits
_Grown = tuple[int, list[Candidate], str]  # times the size, the inputs, and why there are none of that size


@final
@dataclass(frozen=True, slots=True)
class Amplified:
    """Larger inputs, if there are any; ``how`` describes them, ``note`` says why there are none."""

    inputs: tuple[Input, ...] = ()
    how: str = ""
    note: str = ""


async def amplify(sandbox: Sandbox, prover: Prover, admitted: Admitted, seed: int) -> Admitted:
    """The admission with larger inputs, timed on them; unchanged, with the reason in its last note, if there are
    none."""
    return with_larger(admitted, await amplified(sandbox, prover, admitted, seed))


def with_larger(admitted: Admitted, found: Amplified) -> Admitted:
    """The same, given what was found."""
    inputs = (*admitted.inputs, *found.inputs)
    timed, warning = choose_timed(inputs)
    if not timed and found.inputs:
        ended = f"{warning} (maxcode made it: {found.how}; it took longer when it was run for the first time)"
        return replace(admitted, notes=(*admitted.notes[:-1], ended))
    if not timed:
        notes = (*admitted.notes[:-1], f"{admitted.notes[-1]} (maxcode could make none: {found.note})")
        return replace(admitted, notes=notes)
    measures = {**admitted.baseline.measures, **{one.name: one.seconds for one in found.inputs}}
    baseline = replace(admitted.baseline, measures=measures)
    notes = (*admitted.notes[:-1], f"{ENLARGED}: {found.how}")
    return replace(admitted, inputs=inputs, timed=timed, baseline=baseline, notes=notes)


async def amplified(sandbox: Sandbox, prover: Prover, admitted: Admitted, seed: int) -> Amplified:
    """Larger inputs for a problem without an input that is long enough."""
    spec = admitted.problem.spec
    by_size = any("{size}" in word for word in spec.generator)
    step("inputs are made larger: their format is read")
    given = await understood(admitted)
    grown = _by_generator(sandbox, admitted, seed) if by_size else _by_repeating(given, admitted, seed)
    tried = steps = 0
    barely = None
    async for factor, candidates, why in grown:
        if why:
            short = f"; those of {tried} times are still too short" if tried else ""
            return Amplified(note=f"the generator's inputs of {factor} times the size {why}{short}")
        tried, steps = factor, steps + 1
        step(f"inputs are made larger: {factor} times, step {steps} of at most {_GROWN_AT_MOST}")
        runs = await prover.runs(admitted, [Input("made", one.stdin, None, "made") for one in candidates])
        slowest = max(ran.cpu_s for ran in runs)
        if any(not ran.ok for ran in runs) or slowest > spec.limits.run_s / _LIMIT_SHARE:
            ended = f"fails or takes over 1/{_LIMIT_SHARE} of the {spec.limits.run_s:g} s of --run-limit"
            return Amplified(note=f"on inputs {factor} times larger the original {ended}")
        if slowest >= _WANTED_S:
            step(f"inputs are made larger: those of {factor} times are checked")
            made = await prover.proven(admitted, candidates, LARGER)
            if not made.inputs:
                return Amplified(note=f"inputs made {factor} times larger were not used: {'; '.join(made.notes)}")
            how = "the generator's size" if by_size else _how(given)
            barely = Amplified(made.inputs, f"{factor} times ({how})")
            if choose_timed(made.inputs)[0]:
                return barely  # else the first run was long by a hiccup
    if barely is not None:
        return barely
    if by_size:
        return Amplified(note=f"the generator's inputs of {tried} times the size are still too short")
    why = given.why or f"the format of the tests{' and `domain`' if spec.domain else ''} allows no larger ones"
    until = ", and `domain` allows no more" if spec.domain else ""
    return Amplified(note=f"{tried} times as many lines are still too few{until}" if tried else why)


def _how(given: Understood) -> str:
    return (
        "its number"
        if given.shapes[0].is_one_number
        else "more lines or cases like the given ones, their counts with them"
    )


async def _by_generator(sandbox: Sandbox, admitted: Admitted, seed: int) -> AsyncIterator[_Grown]:
    drawn = random.Random(f"{seed} larger")
    for times in range(1, _GROWN_AT_MOST + 1):
        factor = _GROWTH**times
        seeds = [drawn.randrange(1_000, 1 << 31) for _ in range(_COPIES)]
        try:
            found = await generate(sandbox, admitted.problem, seeds, admitted.problem.spec.size * factor)
        except InputError as error:  # it may have a largest size
            yield factor, [], f"cannot be made: {error}"
            return
        if any(blob.size > _INPUT_AT_MOST for _, blob in found):
            yield factor, [], f"are larger than {_INPUT_AT_MOST >> 20} MB"
            return
        yield factor, [Candidate(blob, f"generator, size x {factor}") for _, blob in found], ""


async def _by_repeating(given: Understood, admitted: Admitted, seed: int) -> AsyncIterator[_Grown]:
    slowest = sorted(admitted.inputs, key=lambda one: -one.seconds)[:_BASES] if given.shapes else []
    texts = [text for one in slowest if (text := text_of(one.stdin)) is not None]
    fits = partial(is_possible, given, await computed(stated, given, admitted.problem.spec.domain))
    for times in range(1, _GROWN_AT_MOST + 1):
        factor = _GROWTH**times
        found = []
        for text in texts:
            if len(text) * factor <= _TEXT_AT_MOST:
                grown = await computed(larger, given, text, factor, f"{seed} larger", fits)
                found += [grown] if grown is not None else []
        if not found:
            return
        yield factor, [Candidate(Blob.of(text.encode()), f"x {factor}") for text in found[:_COPIES]], ""
