"""Builds of one text by several compilers, in the sandbox.

Only the kernel is compiled in another way.  The driver around it is the evaluator's, and gcc compiles and links it for
every side.  ``Builder`` has one compiler for a language, so these builds are made here, as jobs of a session.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.types import Problem
from maxcode.evaluate.function.glue import support
from maxcode.sandbox.jobs import Blob, Job, Ran
from maxcode.sandbox.lanes import build_lane
from maxcode.sandbox.sandbox import Mounts, Sandbox

FLAGS = ("-std=gnu17", "-O3", "-march=native")
_JOB = Job((), cpu_s=120, wall_s=400, memory_mb=4096, output_mb=512)


@final
@dataclass(frozen=True, slots=True)
class Anchor:
    """A way to build PolyBench's own text.

    ``tool``: the program that must be installed.
    ``flags``: of the compiler, beside ``FLAGS``; ``shared``: those in addition if two cores may work.
    ``rewrites``: whether the tool makes another source, which gcc compiles; else it is the compiler.
    """

    name: str
    tool: str
    flags: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    rewrites: bool = False


def _llvm(*words: str) -> tuple[str, ...]:
    return tuple(part for word in words for part in ("-mllvm", word))


ANCHORS = (
    Anchor("own text", "gcc"),
    Anchor("fast math", "gcc", ("-ffast-math",)),
    Anchor(
        "Graphite",
        "gcc",
        ("-fgraphite-identity", "-floop-nest-optimize"),
        ("-floop-parallelize-all", "-ftree-parallelize-loops=2"),
    ),
    Anchor(
        "Polly",
        "clang",
        _llvm("-polly", "-polly-vectorizer=stripmine"),
        _llvm("-polly-parallel", "-polly-num-threads=2"),
    ),
    Anchor("Pluto", "polycc", ("--tile",), ("--parallel",), rewrites=True),
)


def anchors(clang: str) -> tuple[Anchor, ...]:
    """The anchors, with another name of the program clang."""
    return tuple(replace(one, tool=clang) if one.tool == "clang" else one for one in ANCHORS)


def version(tool: str) -> str:
    """The first line that a program says of its version; empty if it is not installed."""
    if shutil.which(tool) is None:
        return ""
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return ((said.stdout + said.stderr).strip().splitlines() or ["unknown"])[0]


async def built(sandbox: Sandbox, problem: Problem, text: str, anchor: Anchor, cores: int) -> Blob | str:
    """The artefact of a text, or in words why there is none."""
    if shutil.which(anchor.tool) is None:
        return "not installed"
    name = problem.program.name
    sources = {name: text, **support(problem)}
    async with build_lane(), sandbox.session([], Mounts(sources)) as session:
        ran: Ran | None = None
        for argv in _commands(anchor, name, [one for one in sources if one.endswith(".c") and one != name], cores):
            ran = await session.run(replace(_JOB, argv=argv, collect=("/tmp/out",)))
            if not ran.ok:
                return f"does not build: {_reason(ran)}"
    if ran is None or "/tmp/out" not in ran.files:
        return "does not build: nothing was linked"
    return Blob.of(ran.files["/tmp/out"])


def _commands(anchor: Anchor, name: str, driver: Sequence[str], cores: int) -> Iterator[tuple[str, ...]]:
    own = (*anchor.flags, *(anchor.shared if cores > 1 else ()))
    threads = ("-fopenmp",) if cores > 1 else ()
    source = f"/src/{name}"
    if anchor.rewrites:
        source = "/tmp/rewritten.c"
        # It leaves files in the folder where it runs, and /src cannot be written.
        yield ("/bin/sh", "-c", 'cd /tmp && exec "$@"', "sh", anchor.tool, f"/src/{name}", *own, "-o", source)
        yield ("gcc", *FLAGS, *threads, "-I/src", "-c", source, "-o", "/tmp/kernel.o")
    else:
        yield (anchor.tool, *FLAGS, *own, "-c", source, "-o", "/tmp/kernel.o")
    parts = (f"/src/{one}" for one in driver)
    yield ("gcc", *FLAGS, *threads, "/tmp/kernel.o", *parts, "-o", "/tmp/out", "-lm")


def _reason(ran: Ran) -> str:
    lines = (ran.stderr + ran.stdout).decode(errors="replace").strip().splitlines()
    wrong = [line for line in lines if "error" in line or "sorry" in line]
    return (wrong or lines or [f"{ran.ending} {ran.code}"])[0].replace("/src/", "").strip()[:200]
