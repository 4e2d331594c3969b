"""The processes of a module problem: what each process receives, and how it starts.

Reference, candidate and the maker of inputs live in different sandboxes.  A candidate's process sees its own file, what
was built from it, and copies of the weights.  It never sees the reference, its outputs, or a seed of the inputs.  Only
the maker receives seeds: a fresh secret one for every call.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, final

import msgspec

from maxcode.code.domains import domain_of
from maxcode.core.types import Problem
from maxcode.errors import InputError, unknown
from maxcode.evaluate.function.habits import HABITS, USUAL
from maxcode.evaluate.module.contract import UNKNOWN, Contract, Plans, read_contract
from maxcode.evaluate.module.torch_runtime import Runtime
from maxcode.evaluate.rounds.round import SIDE, last_words
from maxcode.sandbox.sandbox import Blob, Calls, Job, Mounts, Ran, Sandbox

DRIVER = (Path(__file__).parent / "inside" / "driver.py").read_text()
SIZES = (Path(__file__).parent / "inside" / "sizes.py").read_text()
BESIDE = {
    f"{name}.py": (Path(__file__).parent / "inside" / f"{name}.py").read_text()
    for name in ("compiling", "describing", "device", "inductor", "values")
} | {"side.py": SIDE}
NATIVE = (Path(__file__).parents[2] / "native.py").read_text()
LIBRARY = "/src/lib"  # what a candidate may import besides torch: `maxcode.native`
NATIVES = "/src/natives"
OUT = "/tmp/out"  # what a role leaves, besides what it prints
LEAST_MEMORY_MB = 4096  # torch alone maps more than a gigabyte of address space
COMPILER_MB = 6144  # a compiler that reads torch's headers takes 1.5 GB
DEVICE_MB = 8192  # CUDA's libraries, and copies of a round's inputs and outputs
START_S = 120.0
Model = Literal["Model", "ModelNew"]
REFERENCE: Model = "Model"
CANDIDATE: Model = "ModelNew"
LETTERS = (USUAL, *HABITS)  # of the values of a call, by number
BY_SEED = "weights by seed"  # printed by the driver if a candidate's parameters are not named like the reference's

Role = Literal[
    "calls", "make", "describe", "weights", "build", "profile", "compile", "precompile", "shapes", "probe", "once"
]


@final
@dataclass(frozen=True, slots=True)
class ModuleSide:
    """A program to be called.

    ``natives``: file name -> shared object built from it.
    ``compile``: wrap it in torch.compile; only for a reference, which is trusted with a compiler.
    ``inductor``: what an earlier process has kept of that, archives (``inside/inductor.py``).
    """

    text: str
    model: Model
    natives: Mapping[str, bytes] = field(default_factory=dict)
    compile: bool = False
    inductor: tuple[bytes, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class SideStarter:
    """Starts the sides of one problem.

    ``contract``, ``weights``: of the reference.
    ``environment``: variables that the device needs.
    ``on_device``: True if there is a GPU; then the runtime's binds show it.
    """

    sandbox: Sandbox
    runtime: Runtime
    problem: Problem
    threads: int
    seed: int
    contract: Contract = UNKNOWN
    weights: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    on_device: bool = False

    def job(self, role: Role, compiler: bool = False, **more: Any) -> Job:
        """The job of a role, with the problem's time limits plus the start of torch."""
        limits = self.problem.spec.limits
        return Job(
            (self.runtime.python, "-I", "-B", "/src/driver.py", role),
            cpu_s=limits.run_s + START_S,
            wall_s=3 * limits.run_s + START_S,
            memory_mb=self._memory_mb(COMPILER_MB if compiler else LEAST_MEMORY_MB),
            shadow=self.on_device,
            on_device=self.on_device,
            output_mb=2048,
            processes=limits.processes + 64,
            variables=self.runtime.variables,
            **more,
        )

    def _memory_mb(self, least: int) -> int:
        """The limit of host memory.

        CUDA reserves address space for all memory, so with CUDA a control group limits resident memory only: the
        library's own gigabytes and copies of a round's arrays.
        """
        limits = self.problem.spec.limits
        return max(limits.memory_mb, least + (DEVICE_MB if self.on_device else 0))

    def round_limits(self, is_candidate: bool) -> tuple[float, float]:
        """Seconds of CPU and of wall time for a round; a reference may compile meanwhile."""
        limits = self.problem.spec.limits
        if not is_candidate:
            return limits.run_s + START_S, 3 * limits.run_s + START_S
        return limits.run_s, 3 * limits.run_s + 2

    def mounts(self, side: ModuleSide, slots: int = 1, exact: bool = False) -> Mounts:
        """The files of a side and its interpreter."""
        found: dict[str, str | bytes] = {
            "driver.py": DRIVER,
            "problem.py": side.text,
            "meta.json": self._meta(side, slots, exact),
            "weights": self.weights,
            **BESIDE,
            "lib/maxcode/__init__.py": "",
            "lib/maxcode/native.py": NATIVE,
        }
        found |= {f"inductor/{number}": archive for number, archive in enumerate(side.inductor)}
        found |= {f"natives/{name}": content for name, content in side.natives.items()}
        return Mounts(found, self.runtime.binds)

    def _meta(self, side: ModuleSide, slots: int, exact: bool) -> str:
        known = msgspec.to_builtins(self.contract)
        wanted = {key: known[key] for key in ("init", "inputs", "outputs", "weights")}
        return json.dumps(
            {
                "file": "problem.py",
                "class": side.model,
                "threads": self.threads,
                "natives": NATIVES,
                "paths": [LIBRARY, *self.runtime.paths],
                "seed": self.seed,
                "compile": side.compile,
                "slots": slots,
                "exact": exact,
                "device": "cuda" if self.on_device else "cpu",
                "environment": dict(self.environment),
                "letters": "".join(LETTERS) if exact else "",
                "domains": self._domains() if exact else [],
                **wanted,
            }
        )

    def _domains(self) -> list[dict[str, Any] | None]:
        """The domain of each input that is a tensor; None where the problem names none.

        InputError for a name that forward does not take, and for a domain that cannot be read.
        """
        said = dict(self.problem.spec.module_spec.domain)
        names = [one.name for one in self.contract.tensors]
        for name in said:
            if name not in names:
                raise unknown("input in `domain` of [module]:", name, names)
        whole = {one.name: one.dtype.startswith("int") for one in self.contract.tensors}
        return [asdict(domain_of(said[name], {}, whole[name])) if name in said else None for name in names]

    async def describe(self, reference: ModuleSide) -> Contract:
        """The contract of the reference.  InputError with the reference's error if it does not run."""
        ran = await self._once("describe", reference)
        return read_contract(ran.stdout)

    async def described(self, reference: ModuleSide) -> SideStarter:
        """This stage with the contract of the reference and weights from the stage's seed, by one process; errors as in
        ``describe``."""
        ran = await self._once("describe", reference, OUT)
        return replace(self, contract=read_contract(ran.stdout))._holding(ran.files.get(OUT, b""))

    async def with_weights(self, reference: ModuleSide) -> SideStarter:
        """This stage with fresh weights, made by the reference from the stage's seed."""
        if not self.contract.weights:
            return self
        return self._holding((await self._once("weights", reference)).stdout)

    def _holding(self, weights: bytes) -> SideStarter:
        wanted = sum(one.bytes for one in self.contract.weights)
        if len(weights) != wanted:
            raise InputError(f"the reference made {len(weights)} bytes of weights in place of {wanted}")
        return replace(self, weights=weights)

    async def once(self, role: Role, side: ModuleSide, *collect: str) -> Ran:
        """One run of a role, in its own sandbox; torch.profiler needs to make a folder there."""
        measured = role != "profile"
        async with self.sandbox.session([], self.mounts(side), measured=measured) as session:
            return await session.run(self.job(role, collect=collect))

    async def precompiled(self, reference: ModuleSide, known: tuple[bytes, ...]) -> Ran:
        """One run that compiles the reference, which leaves what inductor keeps; ``known``: of earlier ones."""
        async with self.sandbox.session([], self.mounts(replace(reference, inductor=known))) as session:
            return await session.run(self.job("precompile", collect=(OUT,), compiler=True))

    async def _once(self, role: Role, reference: ModuleSide, *collect: str) -> Ran:
        ran = await self.once(role, reference, *collect)
        if not ran.ok:
            raise InputError(f"the reference {self.problem.program.name} does not run: {last_words(ran)}")
        return ran

    @asynccontextmanager
    async def started(self, side: ModuleSide, plans: Plans) -> AsyncIterator[Calls]:
        """The process of a side, starting up for its first round."""
        async with self._calls("calls", side, plans.calls, plans.slots) as calls:
            yield calls

    @asynccontextmanager
    async def maker(self, reference: ModuleSide, plans: Plans) -> AsyncIterator[Calls]:
        """The process that makes inputs, and outputs in double precision."""
        async with self._calls("make", reference, plans.made, plans.slots) as calls:
            yield calls

    @asynccontextmanager
    async def _calls(self, role: Role, side: ModuleSide, plan: Blob, slots: int) -> AsyncIterator[Calls]:
        mounts = self.mounts(side, slots, exact=role == "make")
        prepared = self.on_device and role == "calls"
        job = self.job(role, stdin=plan, called=True, stepped=True, started=True, prepared=prepared)
        async with (
            self.sandbox.session([plan], mounts, measured=not side.compile) as session,
            session.calls(job) as calls,
        ):
            yield calls
