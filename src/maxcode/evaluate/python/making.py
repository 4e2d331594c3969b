"""The processes that make the inputs of a round: several share it where an input takes long to make."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.phases import INPUTS, activity
from maxcode.errors import InputError
from maxcode.evaluate.ladder.original_runs import spending
from maxcode.evaluate.python.sides import Layout, SideStarter
from maxcode.evaluate.rounds.round import last_words
from maxcode.sandbox.sandbox import Blob, Calls

MAKING = "inputs.py, the making of inputs,"
LONG_S = 0.2  # of the making of an input


@final
@dataclass(frozen=True, slots=True)
class Makers:
    """The makers of one session, each of the same share of a round."""

    stage: SideStarter
    layout: Layout
    calls: Sequence[Calls]

    async def make(self, seeds: Sequence[int]) -> bytes:
        """The inputs of a round."""
        size, limits = len(seeds) // len(self.calls), self.stage.round_limits(False, self.layout.slots)
        shares = [seeds[at : at + size] for at in range(0, len(seeds), size)]
        with ExitStack() as stack:
            stack.enter_context(activity(INPUTS))
            stack.enter_context(spending(MAKING))
            for one, share in zip(self.calls, shares, strict=True):
                one.ask(stack.enter_context(Blob.of(struct.pack(f"<{len(share)}Q", *share))), *limits)
            found = [await one.answer(limits[1]) for one in self.calls]
        for ran in found:
            if ran.ending != "answered":
                raise InputError(f"the inputs of {self.stage.problem.entry} failed: {last_words(ran)}")
        return found[0].stdout if len(found) == 1 else b"".join(ran.stdout for ran in found)


def share_of(layout: Layout) -> Layout:
    """The layout of one of the makers."""
    return replace(layout, slots=layout.slots // layout.makers)


def shared(layout: Layout, input_s: float) -> Layout:
    """The layout with as many makers as cores can use; ``input_s``: seconds of the making of an input."""
    cores = len(os.sched_getaffinity(0)) if input_s > LONG_S else 1
    return replace(layout, makers=max(one for one in range(1, cores + 1) if layout.slots % one == 0))
