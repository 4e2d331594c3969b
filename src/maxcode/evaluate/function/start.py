"""What a program uses before its first call when it does nothing of its own there: what more is used is work."""

from __future__ import annotations

import statistics
from typing import final

from maxcode.code.languages import language
from maxcode.core.turns import Once
from maxcode.core.types import Problem
from maxcode.errors import MachineError
from maxcode.sandbox.jobs import Blob, Job
from maxcode.sandbox.sandbox import Mounts, Sandbox

_RUNS = 7
_KNOWN = 4  # runs of a side after which their median says more than the last of them
_SHARE, _S = 0.05, 0.00015  # of what getting ready takes, and beside it: less may be noise
_SINGLE_SHARE, _SINGLE_S = 0.25, 0.0003  # the same of a single run


@final
class Starts:
    """What the sides of a race used before their first calls, and what of it is charged: what is beyond the original's
    usual, and beyond a program that does nothing there."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[float]] = {}

    def late_s(self, side: str, name: str, ready_s: float, least_s: float) -> float:
        """The CPU seconds to charge a run of ``side`` on the input ``name`` that was ready after ``ready_s``."""
        own = self._known.setdefault((side, name), [])
        own.append(ready_s)
        usual = max(least_s, statistics.median(self._known.get(("original", name), [0.0])))
        late = ready_s - usual  # of this run: a side may work early in some of them only
        if late > _SINGLE_SHARE * usual + _SINGLE_S:
            return late
        often = statistics.median(own) - usual
        return often if len(own) >= _KNOWN and often > _SHARE * usual + _S else 0.0


@final
class Start:
    """Measures it with ``text``, a driver whose calls do nothing; built once, as candidates are."""

    def __init__(self, sandbox: Sandbox, problem: Problem, text: str) -> None:
        self._sandbox = sandbox
        self._problem = problem
        self._text = text
        self._empty = Once(self._build)

    @property
    def is_built(self) -> bool:
        return self._empty.is_made

    async def built(self) -> None:
        """Builds it where it is not built yet."""
        await self._empty.get()

    async def least_s(self, plan: Blob) -> float:
        """CPU seconds up to the first call of a plan, the median of some runs."""
        empty = await self._empty.get()
        async with self._sandbox.session([empty, plan], bare=True) as session:
            job = Job(argv=("{artefact}",), artefact=empty, stdin=plan, called=True, output_mb=2048)
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
        async with self._sandbox.session([], Mounts({name: self._text})) as session:
            ran = await session.run(Job(argv, cpu_s=60, output_mb=64, collect=("/tmp/out",)))
        if not ran.ok or "/tmp/out" not in ran.files:
            raise MachineError(f"{name} does not build here: {ran.stderr.decode(errors='replace')[:500]}")
        return Blob.of(ran.files["/tmp/out"])
