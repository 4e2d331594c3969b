"""A problem: the program to make faster, how its output is checked, and the resources it may use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
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
        """The text of a one-file program; ValueError if there are several files."""
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

    ``expected`` is None if the original program is the oracle (generated inputs).
    """

    name: str
    stdin: str
    expected: str | None


@final
@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a program can read, and not change, at ``name`` below the folder where it starts.

    ``sha256``: over ``content``, hexadecimal.
    """

    name: str
    sha256: str
    content: bytes = field(repr=False)


@final
@dataclass(frozen=True, slots=True)
class Checker:
    """How an output is compared with the expected one.

    ``tokens``: equal after splitting on white space.
    ``exact``: equal bytes.
    ``float``: tokens, but numbers may differ by ``abs_tol + rel_tol * |expected|``, and NaN equals nothing.
    ``command``: the user's program, run in the sandbox as ``command INPUT EXPECTED OUTPUT``; exit status 0 accepts.
    ``pie``: the comparison of PIE's own evaluation, with its gaps (``evaluate/ladder/checker.py``).
    """

    kind: Literal["tokens", "exact", "float", "pie", "command"] = "tokens"
    abs_tol: float = 0.0
    rel_tol: float = 1e-9
    command: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run and one build.  Seconds are CPU seconds; the wall-clock limit is 3 times that plus 2 s."""

    run_s: float = 10.0
    build_s: float = 60.0
    memory_mb: int = 1024
    output_mb: int = 64
    processes: int = 32


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function.

    ``extent``: the number of elements, as an expression in the scalar arguments; empty for a scalar.
    ``access``: the function writes ``out`` and ``inout`` arrays, and never writes ``in``.  ``scratch`` is an ``inout``
    whose content after the call is not checked.
    """

    name: str
    ctype: Literal["double", "float", "int", "long"]
    extent: str = ""
    access: Literal["in", "out", "inout", "scratch"] = "in"


@final
@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """What the harness ``function`` needs in addition to the source.

    A size gives every scalar argument a value, in order.
    ``timed``: sizes that are timed, in ``calls`` rounds of ``slots`` calls a pass, every call on fresh inputs.
    ``checked``: sizes that are only verified (odd ones find skipped tails).
    ``flop``: floating-point operations of a call, as an expression in the scalar arguments.
    ``moved``: the least bytes that a correct call reads and writes, as such an expression; empty if not given.
    ``tolerance``: bound on the relative Frobenius error of every written array of real numbers against the
    original's; ``tolerances``: that of single arrays by name.  Integers must be equal where their array has none.
    ``domain``: which values an argument may have, by name (``code/domains.py``).
    ``header``: C text that declares the function.
    ``inputs``: C text of ``void inputs(unsigned long seed, <the function's arguments>)``, which may change the values
    that it receives; empty for uniform values in [-1, 1).
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
        """All fields, for a hash.  Later fields are left out when empty, so that older hashes stay equal."""
        later = ("moved", "tolerances", "domain")
        return {key: value for key, value in asdict(self).items() if value or key not in later}

    def tolerance_of(self, array: str) -> float:
        """The bound on the error of a written array."""
        return dict(self.tolerances).get(array, self.tolerance)

    @property
    def scalars(self) -> tuple[Argument, ...]:
        """The arguments that are numbers, in order."""
        return tuple(argument for argument in self.arguments if not argument.extent)

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """The arguments that are arrays, in order."""
        return tuple(argument for argument in self.arguments if argument.extent)


OWN_ERRORS = 3.0  # allowed error of a module's output, in errors of the reference itself
MOST_OWN = 1e-2  # what these may add to the tolerance


@final
@dataclass(frozen=True, slots=True)
class ModuleSpec:
    """What the harness ``module`` needs in addition to the source, a file in the KernelBench contract.

    ``constants``: module-level numbers of the file to replace, by name (smaller shapes); ``shape[0]`` names a place in
    a tuple.
    ``tolerance``: how far an output element may be from the exact one, as a share of its size and of the output's root
    mean square.
    ``domain``: which values an input of forward may have, by its name (``code/domains.py``); "drawn": only such as
    ``get_inputs`` draws.
    """

    device: Literal["cpu", "cuda"] = "cpu"
    constants: tuple[tuple[str, int], ...] = ()
    tolerance: float = 1e-4
    domain: tuple[tuple[str, str], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class RepoSpec:
    """What the harness ``repo`` needs in addition to the files that may be edited.

    ``folder``: of the git repository on this machine; ``commit``: the full hash of base.
    ``edit``: patterns of the files that a candidate may change, relative to the repository.
    ``setup``: run once, as the user and with the network.  ``build``, ``tests``, ``benchmark``: run in the sandbox.
    All are for the shell and start in the top folder of the repository's files.  ``{seed}`` in the benchmark is another
    number in every pair.
    ``show``: further folders of this machine that the commands see, read-only, at their own paths.
    ``same_output``: every run of the benchmark prints the same bytes.
    """

    folder: str
    commit: str
    edit: tuple[str, ...]
    benchmark: str
    setup: str = ""
    build: str = ""
    tests: str = ""
    show: tuple[str, ...] = ()
    same_output: bool = False

    @property
    def said(self) -> dict[str, Any]:
        """All fields that are the same on every machine, for a hash."""
        return {key: value for key, value in asdict(self).items() if key not in ("folder", "show")}


@final
@dataclass(frozen=True, slots=True)
class PythonSpec:
    """What the harness ``python`` needs in addition to the source.

    ``function``: the name of the function; ``Class.method``: of an object made once, outside the clock.  With
    ``package.module:`` in front the file is loaded as that module.
    ``inputs``: text of a file with ``inputs(seed, size)``, which gives the arguments of a call; ``size``: given to it.
    ``check``: text of a file with ``is_solution(*arguments, result)``; empty: results must be the original's.
    ``venv``: folder of a virtual environment whose interpreter and packages are used; empty: the system's Python.
    ``beside``: name -> text of further files that can be imported.
    ``tolerance``: of real numbers, relative; None: by their precision (``evaluate/python/comparing.py``).
    ``calls``: recorded calls in place of ``inputs`` (``problems/recording/``); every second one is held out.
    ``own_arguments``: they belong to the function, which may change them and give their memory back; ``check`` decides.
    """

    function: str
    inputs: str = ""
    size: int = 1000
    check: str = ""
    venv: str = ""
    beside: tuple[tuple[str, str], ...] = ()
    tolerance: float | None = None
    calls: DataFile | None = None
    own_arguments: bool = False

    @property
    def said(self) -> dict[str, Any]:
        """All fields but the folder of the environment, for a hash; a moved folder is the same problem."""
        left_out = ("venv", "calls", *([] if self.own_arguments else ["own_arguments"]))
        found = {key: value for key, value in asdict(replace(self, calls=None)).items() if key not in left_out}
        return found if self.calls is None else {**found, "calls": self.calls.sha256}

    @property
    def recorded(self) -> int:
        """The number of recorded calls."""
        return int.from_bytes(self.calls.content[:8], "little") if self.calls is not None else 0


@final
@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """What the harnesses need in addition to the source.

    ``program`` feeds the cases to standard input and reads standard output.  ``function``, ``module`` and ``python``
    call what the field of that name describes; they have no cases.
    """

    flags: tuple[str, ...] = ()
    checker: Checker = Checker()
    limits: Limits = Limits()
    seen: tuple[Case, ...] = ()
    held_out: tuple[Case, ...] = ()
    generator: tuple[str, ...] = ()  # command printing one input; `{seed}`, `{size}` are replaced; run in the sandbox
    generated: int = 0  # how many inputs to make
    size: int = 1000  # `{size}` for these inputs
    made: int = 8  # how many fresh inputs verify a new best; 0 = none
    domain: tuple[str, ...] = ()  # which values each number of an input may have, in the order of reading
    checker_beside: Literal["", "pie"] = ""  # a second checker: recorded for each case, decides nothing
    folder: str = ""  # folder of the relative files of the generator and the checker
    tie_break: bool = False  # whether a count of instructions follows a tie by a clock
    shared_cores: bool = False  # whether wall time counts even if other programs use the cores
    function: FunctionSpec | None = None
    module: ModuleSpec | None = None
    repo: RepoSpec | None = None
    python: PythonSpec | None = None
    args: tuple[str, ...] = ()  # of every run
    env: tuple[tuple[str, str], ...] = ()  # variables of every run, beside those that every program has
    files: tuple[DataFile, ...] = ()
    include: tuple[str, ...] = ()  # folders of the program in which the compiler looks for headers
    venv: str = ""  # of a whole Python program: a virtual environment, whose interpreter and packages are used

    @property
    def data(self) -> Mapping[str, bytes]:
        """The data files: name -> content."""
        return {one.name: one.content for one in self.files}

    @property
    def on_gpu(self) -> bool:
        """Whether the program runs on a GPU."""
        return self.module is not None and self.module.device == "cuda"

    @property
    def function_spec(self) -> FunctionSpec:
        """What the harness ``function`` needs; ValueError for another kind of problem."""
        if self.function is None:
            raise ValueError("this problem is not of the kind function")
        return self.function

    @property
    def python_spec(self) -> PythonSpec:
        """What the harness ``python`` needs; ValueError for another kind of problem."""
        if self.python is None:
            raise ValueError("this problem is not of the kind python")
        return self.python

    @property
    def module_spec(self) -> ModuleSpec:
        """What the harness ``module`` needs; ValueError for another kind of problem."""
        if self.module is None:
            raise ValueError("this problem is not of the kind module")
        return self.module

    @property
    def repo_spec(self) -> RepoSpec:
        """What the harness ``repo`` needs; ValueError for another kind of problem."""
        if self.repo is None:
            raise ValueError("this problem is not of the kind repo")
        return self.repo


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What to make faster.  ``kind`` selects the harness, ``goal`` the clock.

    ``permitted`` names the permitted techniques (None = all), so a stage of SQD is ``replace(problem, permitted=...)``.
    """

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
        """The facts that depend on its kind."""
        return KINDS[self.kind]

    @property
    def entry(self) -> str:
        """The function, or the class, that a whole program must define."""
        if self.spec.python is not None:
            return self.spec.python.function.rpartition(":")[2].partition(".")[0]
        return self.spec.function.name if self.spec.function is not None else self.traits.entry
