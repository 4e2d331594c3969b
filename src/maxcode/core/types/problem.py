"""What to make faster: a program, how it is checked, and what it may use."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal, final

from maxcode.core.types.kinds import KINDS, Kind, KindTraits

Clock = Literal["cpu", "wall", "instructions"]

GOALS: dict[Clock, str] = {
    "cpu": "least CPU time",
    "wall": "least wall-clock time",
    "instructions": "fewest instructions executed",
}


@final
@dataclass(frozen=True, slots=True)
class Program:
    """A whole program: relative path -> text."""

    files: dict[str, str]

    @property
    def text(self) -> str:
        """The text of a one-file program; ValueError when there are several files."""
        if len(self.files) != 1:
            raise ValueError(f"a program of {len(self.files)} files has no single text: {sorted(self.files)}")
        return next(iter(self.files.values()))

    @property
    def name(self) -> str:
        """The path of the first file, the one that is compiled or started."""
        return next(iter(self.files))

    @property
    def digest(self) -> str:
        """SHA-256 over paths and texts, hexadecimal."""
        return hashlib.sha256(json.dumps(self.files, sort_keys=True).encode()).hexdigest()

    def with_text(self, text: str) -> Program:
        """The same program with its first file holding ``text``."""
        return Program({**self.files, self.name: text})


@final
@dataclass(frozen=True, slots=True)
class Case:
    """One test: a file fed to standard input and the file holding the expected output.

    ``expected`` is None where the original program is the oracle (generated inputs).
    """

    name: str
    stdin: str
    expected: str | None


@final
@dataclass(frozen=True, slots=True)
class Checker:
    """How an output is compared with the expected one.

    ``tokens``: equal after splitting on white space.  ``exact``: equal bytes.  ``float``: tokens, where numbers may
    differ by ``abs_tol + rel_tol * |expected|`` and NaN equals nothing.  ``command``: the user's own program, run
    in the sandbox as ``command INPUT EXPECTED OUTPUT``; exit status 0 accepts.  ``pie``: as PIE's own evaluation
    compares, with its holes (``evaluate/ladder/checker.py``).
    """

    kind: Literal["tokens", "exact", "float", "pie", "command"] = "tokens"
    abs_tol: float = 0.0
    rel_tol: float = 1e-9
    command: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What one run or one build may use.  Seconds are CPU seconds; wall clocks are cut at 3x + 2 s of them."""

    run_s: float = 10.0
    build_s: float = 60.0
    memory_mb: int = 1024
    output_mb: int = 64
    processes: int = 32


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function.  ``extent`` is the number of elements as an expression in the scalar arguments, empty
    for a scalar; ``access`` says who writes an array: ``in`` nobody, ``out`` and ``inout`` the function; ``scratch``
    is an ``inout`` of which nobody asks what it holds in the end."""

    name: str
    ctype: Literal["double", "float", "int", "long"]
    extent: str = ""
    access: Literal["in", "out", "inout", "scratch"] = "in"


@final
@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """What the harness ``function`` needs beside the source.

    A size gives every scalar argument a value, in their order.  ``timed`` sizes are timed: ``calls`` rounds of
    ``slots`` calls a pass, every call on fresh inputs; ``checked`` sizes are verified only (odd ones find
    skipped tails).
    ``flop`` is an expression in the scalar arguments, and so is ``moved``: the bytes that any right call reads and
    writes at least, empty where they are not given.  ``tolerance`` bounds the relative Frobenius error of every
    written array of real numbers against the original's, ``tolerances`` that of single arrays by name; whole numbers
    must be the same where none is given for theirs.  ``domain`` says which values an argument may have, by name
    (``domains.py``).  ``header`` and ``inputs`` are C texts, the latter empty for uniform values in
    [-1, 1): ``void inputs(unsigned long seed, <the function's arguments>)`` may change the values it is given.
    """

    name: str
    arguments: tuple[Argument, ...]
    timed: tuple[tuple[int, ...], ...]
    checked: tuple[tuple[int, ...], ...]
    flop: str
    header_name: str
    header: str
    inputs: str = ""
    calls: int = 8
    slots: int = 1
    tolerance: float = 1e-9
    moved: str = ""
    tolerances: tuple[tuple[str, float], ...] = ()
    domain: tuple[tuple[str, str], ...] = ()

    @property
    def said(self) -> dict[str, Any]:
        """All fields, for a hash; without those that came later and are empty, so that hashes stay what they were."""
        later = ("moved", "tolerances", "domain")
        return {key: value for key, value in asdict(self).items() if value or key not in later}

    def tolerance_of(self, array: str) -> float:
        """What a written array of this name may be off by."""
        return dict(self.tolerances).get(array, self.tolerance)

    @property
    def scalars(self) -> tuple[Argument, ...]:
        """The arguments that are numbers, in order."""
        return tuple(one for one in self.arguments if not one.extent)

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """The arguments that are arrays, in order."""
        return tuple(one for one in self.arguments if one.extent)


@final
@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """What the harness ``module`` needs beside the source, a file in the KernelBench contract.

    ``constants``: module-level numbers of the file that are replaced, by name (smaller shapes); ``shape[0]`` is a place
    in a tuple.  ``tolerance``: how far
    an element of the output may be from the exact one, as a share of its size and of the output's root mean square.
    """

    device: Literal["cpu", "cuda"] = "cpu"
    constants: tuple[tuple[str, int], ...] = ()
    tolerance: float = 1e-4


@final
@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """What the harnesses need beside the source.  ``program`` feeds the cases to standard input and reads standard
    output; ``function`` calls what ``function`` describes and has no cases, ``module`` likewise."""

    flags: tuple[str, ...] = ()
    checker: Checker = Checker()
    limits: Limits = Limits()
    seen: tuple[Case, ...] = ()
    held_out: tuple[Case, ...] = ()
    generator: tuple[str, ...] = ()  # command printing one input; `{seed}`, `{size}` are replaced; run in the sandbox
    generated: int = 0  # how many inputs to make
    size: int = 1000  # of these, where the generator takes one
    made: int = 8  # how many inputs to make that nobody is shown, for a new best; 0 = none
    checker_beside: Literal["", "pie"] = ""  # what decides nothing and is recorded, case by case
    folder: str = ""  # where relative files of the generator and the checker live
    tie_break: bool = False  # whether ties by a clock are followed by a count of instructions
    shared_cores: bool = False  # whether wall time counts although others wanted the cores meanwhile
    function: FunctionSpec | None = None
    module: ModuleSpec | None = None

    @property
    def on_gpu(self) -> bool:
        """Whether it runs on a GPU."""
        return self.module is not None and self.module.device == "cuda"

    @property
    def function_spec(self) -> FunctionSpec:
        """What the harness ``function`` needs; ValueError for another kind of problem."""
        if self.function is None:
            raise ValueError("this problem is no function")
        return self.function

    @property
    def module_spec(self) -> ModuleSpec:
        """What the harness ``module`` needs; ValueError for another kind of problem."""
        if self.module is None:
            raise ValueError("this problem is no module")
        return self.module


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What to make faster.  ``kind`` picks the harness, ``goal`` the clock; ``permitted`` names the techniques
    allowed (None = all), so that a stage of SQD is ``replace(problem, permitted=...)``."""

    id: str
    kind: Kind
    language: str
    program: Program
    spec: ProgramSpec
    statement: str = ""
    goal: Clock = "cpu"
    permitted: frozenset[str] | None = None

    @property
    def traits(self) -> KindTraits:
        """What follows from its kind."""
        return KINDS[self.kind]

    @property
    def entry(self) -> str:
        """The function, or the class, that a whole program must define."""
        return self.spec.function.name if self.spec.function is not None else self.traits.entry
