"""What a program uses before its first call when it does nothing of its own there: what more is used is work."""

from __future__ import annotations

import statistics
from typing import final

from maxcode.code.languages import language
from maxcode.core.types import Problem
from maxcode.errors import MachineError
from maxcode.sandbox.jobs import Blob, Job
from maxcode.sandbox.sandbox import Sandbox

_RUNS = 7


@final
class Start:
    """Measures it with ``text``, a driver whose calls do nothing; built once, as candidates are."""

    def __init__(self, sandbox: Sandbox, problem: Problem, text: str) -> None:
        self._sandbox = sandbox
        self._problem = problem
        self._text = text
        self._empty: Blob | None = None

    async def least_s(self, plan: Blob) -> float:
        """CPU seconds up to the first call of a plan, the median of some runs."""
        if self._empty is None:
            self._empty = await self._build()
        async with self._sandbox.session([self._empty, plan], bare=True) as session:
            job = Job(argv=("{artefact}",), artefact=self._empty, stdin=plan, called=True, output_mb=2048)
            runs = [await session.run(job) for _ in range(_RUNS)]
        if not all(ran.ok for ran in runs):
            raise MachineError(f"calls that do nothing ended by {runs[-1].ending} {runs[-1].code}, not well")
        return statistics.median(ran.ready_s for ran in runs)

    async def _build(self) -> Blob:
        """With the flags of the problem, so that the libraries are the same."""
        tongue, flags = language(self._problem.language), self._problem.spec.flags
        name = f"empty{tongue.suffixes[0]}"
        parts = {
            "{flags}": tuple(flag for flag in flags if not flag.startswith("-l")),
            "{sources}": (f"/src/{name}",),
            "{out}": ("/tmp/out",),
            "{libraries}": tuple(flag for flag in flags if flag.startswith("-l")),
        }
        argv = tuple(word for part in tongue.build for word in parts.get(part, (part,)))
        async with self._sandbox.session([], sources={name: self._text}) as session:
            ran = await session.run(Job(argv, cpu_s=60, output_mb=64, collect=("/tmp/out",)))
        if not ran.ok or "/tmp/out" not in ran.files:
            raise MachineError(f"{name} does not build here: {ran.stderr.decode(errors='replace')[:500]}")
        return Blob.of(ran.files["/tmp/out"])
