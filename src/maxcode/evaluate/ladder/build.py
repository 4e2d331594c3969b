"""The rung *build*: sources -> artefact, diagnostics and the compiler's optimisation remarks, in the sandbox.

Builds are cached by content (sources, flags, compiler); verdicts are not cached.  Precompiled headers are used only in
the search, and only if they cannot change the meaning of a program: a one-file program must begin with the same
includes as the original.  The original and every confirmed winner are built without them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import posixpath
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import final

import anyio.to_thread

from maxcode.code.languages import Language, language
from maxcode.core.turns import Turns
from maxcode.core.types import Limits, MachineCode, Problem, Program, Remark
from maxcode.errors import InputError, MachineError, UnsafeError
from maxcode.evaluate.function.glue import support
from maxcode.evaluate.ladder.interpreter import binds_of, named, tongue_of
from maxcode.evaluate.ladder.kept_builds import KeptBuild, KeptBuilds
from maxcode.evaluate.machine.machine_code import LISTING, read_listing
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from maxcode.sandbox.tiers import UNSAFE

_DIAGNOSTICS_CAP = 16_000
_REMARKS_KEPT, _REMARKS_READ = 500, 8 << 20
_MOST_BYTES = 64 << 20  # of an artefact: every run copies it
_BUILDS_KEPT, _BYTES_KEPT = 256, 512 << 20  # each build holds a file descriptor and its size in memory
_GIVEN_KEPT = 64
_HEADERS_KEPT = 12  # on disk, 20 to 200 MB each
# With `#line` a program can put anything into a file name, such as a number of a thousand digits.
_REMARK = re.compile(r"^/src/([^:\n]+):([0-9]{1,9}):[0-9]+: (missed|optimized): +(.*)$", re.MULTILINE)
_NOISE = ("statement clobbers memory", "couldn't vectorize loop", "not vectorized: no vectype", "no grouped stores")
_LEADING = re.compile(  # possessive: without it a few dozen leading comments would take years
    r"(?:\s|//[^\n]*\n|/\*(?>.*?\*/))*+#[ \t]*include[ \t]*<([\w./+-]+)>[ \t]*(?=\n|//)", re.DOTALL
)
_KILLED = b"Killed signal terminated program"  # of gcc, about a part of it
_LISTING = Job((*LISTING, "/tmp/out"), cpu_s=10, wall_s=20, memory_mb=1024, output_mb=4)
_STRIP = ("objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", "/tmp/out", "/tmp/bare")
_BARE = Job(_STRIP, cpu_s=10, wall_s=20, memory_mb=1024, output_mb=512, collect=("/tmp/bare",))
_LINES = "-g1"  # in ``watch`` too


@final
@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build.

    ``artefact``: None if the build failed.
    ``reason``: how it failed; ``diagnostics``: the compiler's output, capped.
    ``machine_code``: None if there is no artefact, or it cannot be read.
    ``is_lasting``: another build gives the same; a compiler that was stopped or killed may have met a busy machine.
    """

    artefact: Blob | None
    reason: str = ""
    diagnostics: str = ""
    remarks: tuple[Remark, ...] = ()
    machine_code: MachineCode | None = None
    is_lasting: bool = True

    @property
    def code(self) -> str:
        """Equal for builds that differ in nothing but names and line numbers, and so run alike; empty without one."""
        read = self.machine_code.digest if self.machine_code is not None else ""
        return read or (self.artefact.sha256 if self.artefact is not None else "")


@final
class Builder:
    """Builds programs in a sandbox, with a content-addressed cache in memory and precompiled headers on disk."""

    def __init__(self, sandbox: Sandbox, cache: Path, keeps: bool = True) -> None:
        """``keeps``: find and keep builds of the original on disk (``kept_builds.py``)."""
        self._sandbox = sandbox
        self._cache = cache
        self._kept = KeptBuilds.below(cache, keeps and sandbox.tier.name != UNSAFE)
        self._built: dict[str, Built] = {}
        self._given: dict[str, Built] = {}
        self._making = Turns()
        self._headers: dict[str, Path | None] = {}
        self._versions: dict[str, str] = {}

    async def build(self, problem: Problem, program: Program, final: bool = False, is_original: bool = False) -> Built:
        """The program's artefact; ``final`` builds never use a precompiled header; those of an original may be kept.

        Never raises for a bad program.  MachineError if the compiler itself cannot run, InputError if that is the
        interpreter of the user's virtual environment.
        """
        tongue = tongue_of(problem)
        await self._refuse_dead(tongue, problem)
        if not final and (given := self._given.get(_key(program, problem, ""))) is not None:
            return given
        header = None if final else await self._header(tongue, problem, program)
        key = _key(program, problem, str(header))
        async with self._making.of(key):
            if (built := self._built.pop(key, None)) is None:
                make = self._found if final and is_original and not problem.spec.venv else self._compile
                built = await make(tongue, program, problem, header)
                if not built.is_lasting:
                    return built
            self._built[key] = built  # now the latest; the least recently used build goes
        while len(self._built) > 1 and not self._fits():
            del self._built[next(iter(self._built))]
        return built

    def give(self, problem: Problem, program: Program, built: Built) -> None:
        """Use a build by another builder in place of a new one, except for final builds."""
        self._given[_key(program, problem, "")] = built
        while len(self._given) > _GIVEN_KEPT:
            del self._given[next(iter(self._given))]

    async def compiler(self, problem: Problem) -> str:
        """The full version line of the compiler (or interpreter) for the problem's language."""
        return named(problem.spec.venv) if problem.spec.venv else await self._version(language(problem.language))

    def _fits(self) -> bool:
        size = sum(built.artefact.size for built in self._built.values() if built.artefact is not None)
        return len(self._built) <= _BUILDS_KEPT and size <= _BYTES_KEPT

    async def _found(self, tongue: Language, program: Program, problem: Problem, header: Path | None) -> Built:
        """A final build of an original: the kept one, or a new one, which is kept."""
        sources = {**program.files, **support(problem)}
        argv = _command(tongue, sources, problem, header)
        parts = [json.dumps([list(sources.items()), argv]), await self._version(tongue)]
        kept = await anyio.to_thread.run_sync(self._kept.find, parts, tongue.tools[0])
        if kept is not None:
            return Built(Blob.of(kept.artefact), "", kept.diagnostics, kept.remarks, kept.machine_code)
        built = await self._compile(tongue, program, problem, header)
        if built.artefact is not None:
            kept = KeptBuild(built.artefact.read(), built.diagnostics, built.remarks, built.machine_code)
            await anyio.to_thread.run_sync(self._kept.keep, kept, parts, tongue.tools[0])
        return built

    async def _compile(self, tongue: Language, program: Program, problem: Problem, header: Path | None) -> Built:
        sources = {**program.files, **support(problem)}
        argv = _command(tongue, sources, problem, header)
        binds = [*binds_of(problem), *([(header, "/pch")] if header is not None else [])]
        nothing = MachineCode() if tongue.native else None
        listing, bare = b"", b""
        async with self._sandbox.session([], Mounts(sources, binds)) as session:
            ran = await session.run(_job(argv, problem.spec.limits, tongue))
            if ran.ok and nothing is not None:
                listing = (await session.run(_LISTING)).stdout
                bare = (await session.run(_BARE)).files.get("/tmp/bare", b"")
        if ran.ok and not tongue.compiled:
            return Built(Blob.of(_script(program)))
        if ran.ok and "/tmp/out" in ran.files:
            if len(ran.files["/tmp/out"]) > _MOST_BYTES:
                why = f"the build is larger than {_MOST_BYTES >> 20} MB (a huge initialised array?)"
                return Built(None, why, machine_code=nothing)
            remarks = _remarks(ran.files.get("/tmp/remarks", b"")[:_REMARKS_READ])
            digest = hashlib.sha256(bare).hexdigest() if bare else ""
            code = replace(read_listing(listing), digest=digest) if listing else None
            return Built(Blob.of(ran.files["/tmp/out"]), "", "", remarks, code)
        words = ran.stderr[:_DIAGNOSTICS_CAP].decode(errors="replace").strip()
        is_stopped = ran.ending in ("timeout", "signal") or ran.out_of_memory or _KILLED in ran.stderr
        return Built(None, _failure(ran, problem.spec.limits), words, (), nothing, is_lasting=not is_stopped)

    async def _run(self, argv: tuple[str, ...], sources: Mapping[str, str], limits: Limits, tongue: Language) -> Ran:
        async with self._sandbox.session([], Mounts(sources)) as session:
            return await session.run(_job(argv, limits, tongue))

    async def _header(self, tongue: Language, problem: Problem, program: Program) -> Path | None:
        """The folder of the original's precompiled headers, made on first use; None if they must not be used."""
        if not tongue.precompiles or len(program.files) != 1:
            return None
        wanted = _leading_includes(problem.program.text)
        if not wanted or _leading_includes(program.text)[: len(wanted)] != wanted:
            return None
        text = "".join(f"#include <{name}>\n" for name in wanted)
        version, flags = await self._version(tongue), problem.spec.flags
        key = hashlib.sha256("\0".join((version, text, *tongue.build, *flags)).encode()).hexdigest()[:24]
        folder = self._cache / "pch" / key
        if self._headers.get(key, folder) is not None:  # asked each time: another process removes what is not used
            made = _touched(folder / "pch.h.gch") or await self._make_header(tongue, problem, text, folder)
            self._headers[key] = folder if made else None
        return self._headers[key]

    async def _make_header(self, tongue: Language, problem: Problem, text: str, folder: Path) -> bool:
        flags = problem.spec.flags
        own = tongue.build[: tongue.build.index("{flags}")]
        argv = (*own, *flags, _LINES, "-x", "c++-header", "/src/pch.h", "-o", "/tmp/out")
        ran = await self._run(argv, {"pch.h": text}, problem.spec.limits, tongue)
        if not ran.ok or "/tmp/out" not in ran.files:
            return False
        await anyio.to_thread.run_sync(_store_header, folder, text, ran.files["/tmp/out"])
        return True

    async def _refuse_dead(self, tongue: Language, problem: Problem) -> None:
        """InputError if the interpreter of the user's virtual environment does not start in the sandbox; UnsafeError if
        this tier cannot show it."""
        venv = problem.spec.venv
        if not venv or venv in self._versions:
            return
        if self._sandbox.tier.name != "1":  # the others show a folder at another path only to a build
            raise UnsafeError(
                "a virtual environment of a whole program needs tier 1 of the sandbox, bubblewrap "
                "(docs/reference/sandbox-tiers.md); Python functions have theirs in every tier"
            )
        async with self._sandbox.session([], Mounts({"x": ""}, binds_of(problem))) as session:
            ran = await session.run(_job((tongue.tools[0], *tongue.version), Limits(), tongue))
        if not ran.ok:
            said = (ran.stderr.decode(errors="replace").strip().splitlines() or [f"{ran.ending} {ran.code}"])[-1][:200]
            raise InputError(
                f"the interpreter of {venv} does not start in the sandbox ({said}): make the virtual environment anew "
                f"with a Python of this machine, `python3 -m venv --clear {venv}`"
            )
        self._versions[venv] = ran.stdout.decode(errors="replace").strip()

    async def _version(self, tongue: Language) -> str:
        """The compiler's full version line; part of every cache key."""
        if tongue.name not in self._versions:
            refuse_missing(tongue)
            ran = await self._run((tongue.tools[0], *tongue.version), {"x": ""}, Limits(), tongue)
            if not ran.ok:
                raise MachineError(f"{tongue.tools[0]} does not run in the sandbox: {ran.stderr[:200]!r}")
            self._versions[tongue.name] = ran.stdout.decode(errors="replace").split("\n")[0]
        return self._versions[tongue.name]


def refuse_missing(tongue: Language) -> None:
    """MachineError with the cure if this machine lacks a tool of the language."""
    missing = next((tool for tool in tongue.tools if shutil.which(tool) is None), None)
    if missing is not None:
        raise MachineError(
            f"programs in {tongue.name} need {missing}, which this machine lacks: sudo apt-get install {tongue.package}"
        )


def _job(argv: tuple[str, ...], limits: Limits, tongue: Language) -> Job:
    return Job(
        argv=argv,
        cpu_s=limits.build_s,
        wall_s=3 * limits.build_s + 2,
        memory_mb=max(2048, limits.memory_mb) + tongue.own_mb,
        output_mb=512,
        processes=limits.processes + tongue.own_threads,
        variables=tongue.variables,
        paired=tongue.paired,
        collect=("/tmp/out", "/tmp/remarks"),
    )


def _leading_includes(text: str) -> tuple[str, ...]:
    """The system headers that a source includes first, in order."""
    found, at = [], 0
    while (match := _LEADING.match(text, at)) is not None:
        found.append(match[1])
        at = match.end()
    return tuple(found)


def _command(tongue: Language, sources: Iterable[str], problem: Problem, header: Path | None) -> tuple[str, ...]:
    flags = problem.spec.flags
    libraries = tuple(flag for flag in flags if flag.startswith("-l"))
    folders = (posixpath.normpath(f"-I/src/{folder}") for folder in problem.spec.include)
    options = (*(flag for flag in flags if not flag.startswith("-l")), *folders, *tongue.watch)
    if header is not None:
        options = ("-I/pch", "-include", "pch.h", *options)
    compiled = tuple(f"/src/{path}" for path in sources if path.endswith(tongue.suffixes))
    parts = {
        "{flags}": options,
        "{sources}": compiled,
        "{first}": compiled[:1],
        "{out}": ("/tmp/out",),
        "{libraries}": libraries,
    }
    return tuple(word for part in tongue.build for word in parts.get(part, (part,)))


def _failure(ran: Ran, limits: Limits) -> str:
    if ran.ending == "timeout":
        return f"the build took more than {limits.build_s:g} s"
    if ran.ending == "output":
        return "the build wrote more than it may (a huge static array or macro?)"
    if ran.ending == "signal":
        return f"the compiler was killed by signal {ran.code} (out of memory?)"
    return _first_error(ran.stderr.decode(errors="replace"))


def _first_error(words: str) -> str:
    for line in words.splitlines():
        if "error:" in line or "undefined reference" in line or "SyntaxError" in line:
            return line.replace("/src/", "").strip()[:300]
    return (words.strip().splitlines() or ["the compiler failed without a message"])[-1][:300]


def _remarks(raw: bytes) -> tuple[Remark, ...]:
    """Remarks about the program's own lines, without noise; the first of each (line, text)."""
    found: dict[tuple[int, str], Remark] = {}
    for match in _REMARK.finditer(raw.decode(errors="replace")):
        line, kind, text = int(match[2]), match[3], match[4].strip()
        if not any(noise in text for noise in _NOISE):
            found.setdefault((line, text), Remark(line, "missed" if kind == "missed" else "optimized", text))
    return tuple(islice(found.values(), _REMARKS_KEPT))


def _script(program: Program) -> bytes:
    """The file that an interpreter starts: the text of a one-file program, else a zip whose main module is the first
    file."""
    if len(program.files) == 1:
        return program.text.encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number, (path, text) in enumerate(program.files.items()):
            archive.writestr(zipfile.ZipInfo("__main__.py" if number == 0 else path), text)
    return buffer.getvalue()


def _key(program: Program, problem: Problem, header: str) -> str:
    spec = problem.spec
    parts = [program.digest, spec.flags, support(problem), header, *([spec.include] if spec.include else []), spec.venv]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _store_header(folder: Path, text: str, compiled: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pch.h").write_text(text)
    scratch = folder / f"new-{hashlib.sha256(compiled).hexdigest()[:8]}"
    scratch.write_bytes(compiled)
    scratch.replace(folder / "pch.h.gch")
    for stale in sorted(folder.parent.iterdir(), key=_last_used)[:-_HEADERS_KEPT]:
        shutil.rmtree(stale, ignore_errors=True)


def _touched(header: Path) -> bool:
    """True if the header exists; marks its folder as used now."""
    with suppress(FileNotFoundError):
        os.utime(header.parent)
        return header.exists()
    return False


def _last_used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another process has just removed it
        return 0.0
