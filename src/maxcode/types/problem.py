"""What to make faster: a program, how it is checked, and what it may use."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal, final

Clock = Literal["cpu", "wall"]


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
    in the sandbox as ``command INPUT EXPECTED OUTPUT``; exit status 0 accepts.
    """

    kind: Literal["tokens", "exact", "float", "command"] = "tokens"
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
class ProgramSpec:
    """What the harness ``program`` (standard input to standard output) needs beside the source."""

    flags: tuple[str, ...] = ()
    checker: Checker = Checker()
    limits: Limits = Limits()
    seen: tuple[Case, ...] = ()
    held_out: tuple[Case, ...] = ()
    generator: tuple[str, ...] = ()  # command printing one input; `{seed}` is replaced; run in the sandbox
    generated: int = 0  # how many inputs to make
    folder: str = ""  # where relative files of the generator and the checker live


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """What to make faster.  ``kind`` picks the harness, ``goal`` the clock; ``permitted`` names the techniques
    allowed (None = all), so that a stage of SQD is ``replace(problem, permitted=...)``."""

    id: str
    kind: Literal["program"]
    language: str
    program: Program
    spec: ProgramSpec
    statement: str = ""
    goal: Clock = "cpu"
    permitted: frozenset[str] | None = None
