"""Profiles the benchmark of a repository in the sandbox: where its time goes, by function of the repository.

    Python      cProfile in every interpreter that the command starts
    JavaScript  V8's profiler in every node
    Go          pprof of ``go test -bench``
    a program   samples from outside (``shim_sampler.h``), if the command is one program of the repository
    the rest    callgrind, which counts instructions, follows every process and takes some fifty times as long

For diagnosis only: no number here is ever a timing, and a program can lie to all of these but the sampler.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import tarfile
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from maxcode.core.types import HotFunction
from maxcode.evaluate.repo.commands import OUTPUT_MB, PROCESSES, Commands, Place, memory_mb, said
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.profile_readers import (
    Costs,
    Function,
    frames_of,
    function_at,
    of_callgrind,
    of_cprofile,
    of_pprof,
    of_v8,
)
from maxcode.sandbox.sandbox import Job, Ran, Sample

PROFILE_S = 300.0  # wall seconds
PLACES_KEPT, CALLERS_KEPT = 12, 3
LEAST_SAMPLES, LEAST_SHARE = 50, 0.005
_HOOK = Path(__file__).with_name("profile_hook.py")
_PACKED, _ADDRESSES = "/tmp/maxcode-profile.tar", 400
_PYTHON = re.compile(r"\b(?:python[\d.]*|pytest|py\.test|tox|nox)\b")
_NODE = re.compile(r"\b(?:node|npm|npx|yarn|pnpm)\b")
_GO = re.compile(r"^go\s+test\s+[^;&|]*-bench\b[^;&|]*$")
_SHELL = frozenset(";&|<>()$`*?\n'\"\\")


@final
@dataclass(frozen=True, slots=True)
class RepoProfile:
    """``functions``: the costliest first.  ``how``: the profiler and what its shares are of.  ``elsewhere``: the share
    outside the repository.  ``why_not``: why there is no profile, else empty."""

    functions: tuple[HotFunction, ...] = ()
    how: str = ""
    elsewhere: float = 0.0
    why_not: str = ""


async def profiled(
    place: Place, side: Layers, command: str, known: Collection[str], is_long: bool = False
) -> RepoProfile:
    """The profile of one run of ``command`` on the files of a side.

    ``known``: the paths of the repository's files.  ``is_long``: the command is too long to be run fifty times as slow.
    """
    async with place.session(side) as commands:
        for fits, profile in _WAYS:
            if fits(command) and not (is_long and profile is _by_callgrind):
                found = await profile(commands, command)
                if found is not None:
                    return _narrowed(found, known)
    return RepoProfile(
        why_not=f"no profiler follows {command!r}: install valgrind, or give a command that starts a program, Python, "
        "node or `go test -bench`"
    )


async def _by_cprofile(commands: Commands, command: str) -> RepoProfile | None:
    given = dict(commands.place.problem.spec.env).get("PYTHONPATH", "")
    given = given.replace("{repo}", str(commands.place.path))
    prepared = (
        f"mkdir -p $TMPDIR/p && cat > $TMPDIR/p/sitecustomize.py <<'MAXCODE_HOOK'\n{_HOOK.read_text()}\nMAXCODE_HOOK\n"
        f'export MAXCODE_PROFILE=$TMPDIR/p/lines PYTHONPATH="$TMPDIR/p:{given}"'
    )
    ran = await _ran(commands, f"{prepared}\n{command}", "p/lines")
    if not ran.ok:
        return _failed(command, ran)
    text = b"\n".join(_unpacked(ran).values()).decode(errors="replace")
    return _ranked(
        of_cprofile(text, str(commands.place.path)), "cProfile, shares of seconds (it slows small functions)"
    )


async def _by_v8(commands: Commands, command: str) -> RepoProfile | None:
    prepared = (
        'mkdir -p $TMPDIR/p $TMPDIR/bin; printf \'#!/bin/sh\\nexec "%s" --cpu-prof --cpu-prof-dir="%s" "$@"\\n\' '
        '"$(command -v node)" "$TMPDIR/p" > $TMPDIR/bin/node; chmod +x $TMPDIR/bin/node; '
        'export PATH="$TMPDIR/bin:$PATH"'
    )  # NODE_OPTIONS does not take the option in every version
    ran = await _ran(commands, f"{prepared}\n{command}", "p")
    if not ran.ok:
        return _failed(command, ran)
    return _ranked(of_v8(_unpacked(ran), str(commands.place.path)), "V8's profiler, shares of samples")


async def _by_pprof(commands: Commands, command: str) -> RepoProfile | None:
    test = "$TMPDIR/p/bench.test"
    script = (
        f"mkdir $TMPDIR/p && {command} -cpuprofile=$TMPDIR/p/cpu -o {test} && "
        f"go tool pprof -top -lines -nodecount=400 {test} $TMPDIR/p/cpu > $TMPDIR/p/top; rm -f {test} $TMPDIR/p/cpu; "
        "[ -s $TMPDIR/p/top ]"
    )
    ran = await _ran(commands, script, "p")
    if not ran.ok:
        return _failed(command, ran)
    text = b"\n".join(_unpacked(ran).values()).decode(errors="replace")
    return _ranked(of_pprof(text, str(commands.place.path)), "Go's pprof, shares of samples")


async def _by_samples(commands: Commands, command: str) -> RepoProfile | None:
    """None if the samples are too few, because other processes do the work."""
    top = str(commands.place.path)
    words = shlex.split(command)
    program = f"{top}/{words[0].removeprefix('./')}"
    job = replace(_job(("env", "-C", top, *_env(commands), program, *words[1:])), profile=True)
    ran = await commands.session.run(job)
    if not ran.ok:
        return _failed(command, ran)
    own = [sample for sample in ran.samples if _address(sample) is not None]
    if len(own) < LEAST_SAMPLES:
        return None
    counts = Counter(at for sample in own for at in (_address(sample), *sample.callers[:2]) if at is not None)
    asked = [f"{at:#x}" for at, _ in counts.most_common(_ADDRESSES)]
    named = await commands.session.run(_job(("addr2line", "-a", "-i", "-f", "-C", "-e", program, *asked)))
    frames = dict(frames_of(named.stdout.decode(errors="replace"))) if named.ok else {}
    found = Costs()
    for sample in ran.samples:
        _add_sample(found, sample, frames, top)
    return _ranked(found, f"{len(ran.samples)} samples of its main thread")


def _address(sample: Sample) -> int | None:
    """The address in the program: where it is, or where it called a library."""
    if not sample.module:
        return sample.address
    return sample.callers[0] - 1 if sample.callers else None


def _add_sample(found: Costs, sample: Sample, frames: dict[int, list[tuple[str, str, int]]], top: str) -> None:
    at = _address(sample)
    seen = frames.get(at, []) if at is not None else []
    own = [(function_at(path, name, top), line) for name, path, line in seen]
    function, line = next(((one, line) for one, line in own if one.file), (Function("", sample.module or "?"), 0))
    found.add(function, 1, line)
    outer = [name for back in sample.callers for name, _, _ in frames.get(back, [])[-1:]]
    caller = next((name for name in outer if name != function.name), "")
    if caller:
        found.callers[function][caller] += 1


async def _by_callgrind(commands: Commands, command: str) -> RepoProfile | None:
    words = (
        "valgrind --tool=callgrind --trace-children=yes --compress-strings=no --compress-pos=no --vgdb=no "
        "--log-file=/dev/null --callgrind-out-file=$TMPDIR/p/%p"
    )
    ran = await _ran(commands, f"mkdir $TMPDIR/p; {words} sh -c {shlex.quote(command)}", "p")
    if not ran.ok:
        return _failed(command, ran, " under valgrind, which takes some fifty times as long")
    costs = Costs()
    for data in _unpacked(ran).values():
        costs.merge(of_callgrind(data.decode(errors="replace"), str(commands.place.path)))
    return _ranked(costs, "callgrind, shares of instructions")


async def _ran(commands: Commands, script: str, kept: str) -> Ran:
    """One run, whose files below ``kept`` in $TMPDIR come back in an archive."""
    whole = f"{script}\nstatus=$?\ntar -cf {_PACKED} -C $TMPDIR {kept} 2>/dev/null\nexit $status"
    job = _job(("env", "-C", str(commands.place.path), *_env(commands), "sh", "-c", whole))
    return await commands.session.run(replace(job, collect=(_PACKED,)))


def _env(commands: Commands) -> list[str]:
    top = str(commands.place.path)
    return [f"{name}={value.replace('{repo}', top)}" for name, value in commands.place.problem.spec.env]


def _job(words: tuple[str, ...]) -> Job:
    return Job(
        words, cpu_s=PROFILE_S * (os.cpu_count() or 1), wall_s=PROFILE_S, memory_mb=memory_mb(), output_mb=OUTPUT_MB,
        processes=PROCESSES,
    )  # fmt: skip


def _unpacked(ran: Ran) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with suppress(tarfile.TarError, OSError, EOFError), tarfile.open(fileobj=io.BytesIO(ran.files[_PACKED])) as packed:
        for member in packed:
            if member.isfile() and (file := packed.extractfile(member)) is not None:
                found[member.name] = file.read()
    return found


def _failed(command: str, ran: Ran, how: str = "") -> RepoProfile:
    return RepoProfile(why_not=f"{command!r} fails{how}: {said(ran)}")


def _ranked(costs: Costs, how: str) -> RepoProfile:
    total = sum(costs.own.values())
    if not total:
        return RepoProfile(
            why_not="the profiler saw nothing of the command: it ends too soon, or starts other programs"
        )
    own = {function: cost for function, cost in costs.own.items() if function.file}
    best = sorted(own, key=lambda function: -own[function])
    found = tuple(
        HotFunction(
            one.file, one.name, costs.lines.get(one, 0), round(own[one] / total, 4),
            tuple(name for name, _ in costs.callers.get(one, Counter[str]()).most_common(CALLERS_KEPT)),
        )
        for one in best
    )  # fmt: skip
    return RepoProfile(found, how)


def _narrowed(found: RepoProfile, known: Collection[str]) -> RepoProfile:
    """Without functions of other files, such as those of the system that name a relative path."""
    own = [one for one in found.functions if one.file in known]
    kept = tuple(one for one in own[:PLACES_KEPT] if one.share >= LEAST_SHARE)
    return replace(found, functions=kept, elsewhere=round(max(0.0, 1 - sum(one.share for one in own)), 4))


def _is_program(command: str) -> bool:
    """Whether a command is one program of the repository, without the shell."""
    first = command.split(maxsplit=1)[0]
    is_plain = not _SHELL & set(command) and "=" not in first and "/" in first and not first.startswith("/")
    return is_plain and not first.endswith((".sh", ".py", ".js", ".pl", ".rb"))


_Way = tuple[Callable[[str], bool], Callable[[Commands, str], Awaitable[RepoProfile | None]]]
_WAYS: tuple[_Way, ...] = (
    (lambda command: _PYTHON.search(command) is not None, _by_cprofile),
    (lambda command: _GO.match(command) is not None, _by_pprof),
    (lambda command: _NODE.search(command) is not None, _by_v8),
    (_is_program, _by_samples),
    (lambda _: shutil.which("valgrind") is not None, _by_callgrind),
)
