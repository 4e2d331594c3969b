"""The inputs of a function: sizes to check, sizes that nobody knows, sizes to time; fresh ones for every pass."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.types import Problem
from maxcode.evaluate.function.function import Inputs, Shape
from maxcode.evaluate.function.second_look import OriginalNearby, shape_of
from maxcode.evaluate.function.sizes import DRAWN, checked_shapes, drawn_shapes, timed_shapes
from maxcode.evaluate.inputs.beyond import Beyond
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Input
from maxcode.sandbox.sandbox import Blob

AHEAD = 8  # passes whose inputs are made in one session: to start one takes longer than to make them


@final
@dataclass(frozen=True, slots=True)
class Calls:
    """Calls on fresh inputs: the source of a function's inputs (``prepare.InputSource``)."""

    inputs: Inputs
    renews: bool = True

    async def ahead(self, timed: Sequence[Input]) -> None:
        """The inputs of the first passes, and a program that does nothing."""
        await self.inputs.ahead([shape_of(given) for given in timed], AHEAD)

    async def for_pass(self, given: Input, own: ExitStack) -> Input:
        """The same calls on inputs that nobody has seen."""
        return replace(given, stdin=await self.inputs.fresh(shape_of(given), ahead=AHEAD), expected=None)

    async def further(self, problem: Problem, times: int) -> list[Input]:
        """Calls at sizes and addresses that nobody was told of."""
        return await _asked(self.inputs, [("made", shape) for shape in drawn_shapes(problem, times * DRAWN)])

    def looked_at_twice(self, given: Input, original: Blob) -> Input:
        """The original says what single elements may be off by."""
        return replace(given, second_look=OriginalNearby(original))

    async def beyond(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        """Calls on values beyond those drawn."""
        return await Beyond(builder, problem, OriginalNearby(original), self.inputs).made(origin)

    async def at_jumps(self, builder: Builder, problem: Problem, original: Blob, origin: str) -> tuple[Input, ...]:
        """Calls on values at which an answer may jump."""
        return await Beyond(builder, problem, OriginalNearby(original), self.inputs).at_jumps(origin)

    def one_by_one(self, given: Input) -> Input | None:
        """Rounds of one call."""
        shape = shape_of(given)
        if shape.spec.slots == 1:
            return None
        alone = replace(shape, spec=replace(shape.spec, slots=1), rounds=shape.rounds * shape.spec.slots)
        return replace(given, workload=alone, expected=None)

    async def ready_s(self, given: Input) -> float | None:
        """Up to the first call, where the clock starts."""
        return await self.inputs.ready_s(shape_of(given))


async def calls_of(problem: Problem, inputs: Inputs) -> list[Input]:
    """The inputs of a function: the sizes to check, which the policy may know of, some that nobody knows, and those to
    time.  InputError where the inputs of the latter are always the same."""
    for shape in timed_shapes(problem):
        await inputs.require_fresh(shape)
    kinds = (("seen", checked_shapes), ("generated", drawn_shapes), ("generated", timed_shapes))
    return await _asked(inputs, [(origin, shape) for origin, shapes in kinds for shape in shapes(problem)])


async def _asked(inputs: Inputs, wanted: Sequence[tuple[str, Shape]]) -> list[Input]:
    """Calls on fresh inputs, without an answer yet, for pairs of an origin and a shape."""
    plans = await inputs.fresh_each([shape for _, shape in wanted])
    return [
        Input(shape.name, plan, None, origin, workload=shape)
        for (origin, shape), plan in zip(wanted, plans, strict=True)
    ]
