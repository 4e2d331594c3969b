"""Where a scout tries commands: base of the repository in the sandbox, set up and built as the proposal says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

import anyio.to_thread

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.evaluate.repo.base_tree import base_tree
from maxcode.evaluate.repo.commands import COMMAND_S, SEED, Place, said
from maxcode.evaluate.repo.layers import Layers
from maxcode.problems.repository import repository
from maxcode.run.scout.conventions import Conventions
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Blob, Ran, Sandbox

BENCHMARK_S = 300.0  # wall seconds of one run


@final
@dataclass(frozen=True, slots=True)
class Ground:
    """``top``: the folder of the repository.  ``say`` is called with what is done now."""

    sandbox: Sandbox
    top: Path
    say: Callable[[str], None]

    def problem(self, found: Conventions) -> Problem:
        """The problem that a proposal describes."""
        table = {"kind": "repo", "edit": list(found.edit), "benchmark": found.benchmark, "build": found.build,
                 "setup": found.setup, "env": dict(found.env), "language": found.language,
                 "show": list(found.show)}  # fmt: skip
        return repository(table, self.top, "what was found")[0]

    def place(self, found: Conventions) -> Place:
        """Where its commands run."""
        return Place(self.sandbox, self.problem(found))

    async def side(self, found: Conventions) -> Layers:
        """Base after set-up and build.  InputError if one of them fails."""
        self.say("exporting the revision" + (" and running the set-up" if found.setup else ""))
        place = self.place(found)
        side = Layers(await anyio.to_thread.run_sync(base_tree, place.problem))
        if not found.build:
            return side
        self.say("building")
        async with build_lane():
            ran, packed = await place.built(side, COMMAND_S)
        if not ran.ok:
            raise InputError(f"build {found.build!r} fails in the sandbox: {said(ran)}")
        return Layers(Blob.of(packed))

    async def benchmark(self, found: Conventions, side: Layers) -> Ran:
        """One run of the benchmark of a proposal on the files of a side."""
        self.say(f"running the benchmark: {found.benchmark}")
        async with build_lane():
            return await self.place(found).run(side, found.benchmark.replace(SEED, "1"), BENCHMARK_S)

    async def tests(self, found: Conventions, side: Layers) -> Ran:
        """One run of the tests of a proposal on the files of a side."""
        self.say(f"running the tests: {found.tests}")
        async with build_lane():
            return await self.place(found).run(side, found.tests, COMMAND_S)
