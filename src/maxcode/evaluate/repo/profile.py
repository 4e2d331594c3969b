"""Profiles the benchmark of a repository in the sandbox: where its time goes, by function of the repository.

    Python      cProfile in every interpreter that the command starts
    JavaScript  V8's profiler in every node
    Go          pprof of ``go test -bench``, or of the program that ``go test -c`` makes
    a program   samples of its running threads from outside (``shim_sampler.h``), if it is one of the repository
    the rest    callgrind, which counts instructions, follows every process and takes some fifty times as long

For diagnosis only: no number here is ever a timing, and a program can lie to all of these but the sampler.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import final

from maxcode.core.types import HotFunction, Program
from maxcode.core.types.facts import UNCOUNTED_AT_MOST
from maxcode.evaluate.repo.commands import OUTPUT_MB, PROCESSES, SEED, Commands, Place, memory_mb, said
from maxcode.evaluate.repo.layers import Layers
from maxcode.evaluate.repo.own_functions import Costs, Function, Tree, charged, outside
from maxcode.evaluate.repo.profile_readers import (
    add_stack,
    frames_of,
    of_callgrind,
    of_cprofile,
    of_pprof,
    of_v8,
    places_of,
    run_by,
)
from maxcode.sandbox.archives import BROKEN, content, opened
from maxcode.sandbox.sandbox import Job, Ran, Sample

PROFILE_S = 300.0  # wall seconds
PLACES_KEPT, CALLERS_KEPT = 12, 3
LEAST_SAMPLES, LEAST_SHARE = 50, 0.005
RUNS_AT_MOST, SHORT_S, ENOUGH_SAMPLES = 8, 2.0, 500  # a shorter program is run again until it has as many samples
PPROF_S = 0.01  # of CPU time between two samples
_COUNT_AT_MOST = 10**9
LEAST_OUTSIDE = 0.001  # a smaller share says nothing while other time has no known place
_HOOK = Path(__file__).with_name("profile_hook.py")
_PACKED, _ADDRESSES_AT_MOST = "/tmp/maxcode-profile.tar", 16384
_PYTHON = re.compile(r"\b(?:python[\d.]*|pytest|py\.test|tox|nox)\b")
_NODE = re.compile(r"\b(?:node|npm|npx|yarn|pnpm)\b")
_GO = re.compile(r"^go\s+test\s+[^;&|]*-bench\b[^;&|]*$")
_GO_BUILT = re.compile(r"^(?:cd [\w./-]+ && )?(?P<test>[\w./-]+\.test)\s+[^;&|]*-test\.bench\b[^;&|]*$")
_SHELL = frozenset(";&|<>()$`*?\n'\"\\")


@final
@dataclass(frozen=True, slots=True)
class RepoProfile:
    """``functions``: the costliest first.  ``how``: the profiler and what its shares are of.  ``elsewhere``: the share
    of code outside the repository without a known caller.  ``why_not``: why there is no profile, else empty.
    ``outside``: the share that nothing in the editable files holds or calls; None if it says nothing.  ``run_by``: the
    interpreter of the benchmark with the libraries that it loaded, in words; empty if it is none, or unknown."""

    functions: tuple[HotFunction, ...] = ()
    how: str = ""
    elsewhere: float = 0.0
    why_not: str = ""
    outside: float | None = None
    run_by: str = ""

    @property
    def counted(self) -> str:
        """What the shares count, and what is in none of them."""
        without = f"{self.elsewhere:.0%} is in other code without a known caller"
        if self.elsewhere > UNCOUNTED_AT_MOST:
            return f"{without}, such as libraries or a garbage collector, and not counted"
        return f"with the library code that a function calls; {without}"


async def profiled(
    place: Place, side: Layers, program: Program, known: Collection[str], is_long: bool = False
) -> RepoProfile:
    """The profile of one run of the benchmark on the files of a side.

    ``program``: the editable files of that side.  ``known``: the paths of the repository's files.  ``is_long``: the
    benchmark is too long to be run fifty times as slow.
    """
    command = place.problem.spec.repo_spec.benchmark.replace(SEED, "1")
    tree = Tree(str(place.path), {*known, *program.files}, program.files)
    async with place.session(side) as commands:
        for fits, profile in _WAYS:
            if fits(command) and not (is_long and profile is _by_callgrind):
                found = await profile(commands, command, tree)
                if found is not None:
                    return found
    return RepoProfile(
        why_not=f"no profiler follows {command!r}: install valgrind, or give a command that starts a program, Python, "
        "node or `go test -bench`"
    )


async def _by_cprofile(commands: Commands, command: str, tree: Tree) -> RepoProfile | None:
    given = dict(commands.place.problem.spec.env).get("PYTHONPATH", "")
    given = given.replace("{repo}", str(commands.place.path))
    prepared = (
        f"mkdir -p $TMPDIR/p && cat > $TMPDIR/p/sitecustomize.py <<'MAXCODE_HOOK'\n{_HOOK.read_text()}\nMAXCODE_HOOK\n"
        f'export MAXCODE_PROFILE=$TMPDIR/p/lines PYTHONPATH="$TMPDIR/p:{given}"'
    )
    ran = await _ran(commands, f"{prepared}\n{command}", "p")
    if not ran.ok:
        return _failed(command, ran)
    files = {PurePosixPath(name).name: data.decode(errors="replace") for name, data in _unpacked(ran).items()}
    costs = of_cprofile(files.get("lines", ""), tree)
    found = _ranked(costs, "cProfile, shares of seconds (it slows small functions)", tree)
    return replace(found, run_by=run_by(files.get("lines.by", "")))


async def _by_v8(commands: Commands, command: str, tree: Tree) -> RepoProfile | None:
    prepared = (
        'mkdir -p $TMPDIR/p $TMPDIR/bin; printf \'#!/bin/sh\\nexec "%s" --cpu-prof --cpu-prof-dir="%s" "$@"\\n\' '
        '"$(command -v node)" "$TMPDIR/p" > $TMPDIR/bin/node; chmod +x $TMPDIR/bin/node; '
        'export PATH="$TMPDIR/bin:$PATH"'
    )  # NODE_OPTIONS does not take the option in every version
    ran = await _ran(commands, f"{prepared}\n{command}", "p")
    if not ran.ok:
        return _failed(command, ran)
    costs = of_v8(_unpacked(ran), tree)
    return _ranked(costs, "V8's profiler, shares of samples", tree, sum(costs.own.values()))


async def _by_pprof(commands: Commands, command: str, tree: Tree) -> RepoProfile | None:
    test, options = "$TMPDIR/p/bench.test", "-cpuprofile=$TMPDIR/p/cpu -o $TMPDIR/p/bench.test"
    if built := _GO_BUILT.match(command):
        test, options = built["test"], "-test.cpuprofile=$TMPDIR/p/cpu"
    script = (
        f"mkdir $TMPDIR/p && {command} {options} && "
        f"go tool pprof -traces -lines {test} $TMPDIR/p/cpu > $TMPDIR/p/traces; "
        "rm -f $TMPDIR/p/bench.test $TMPDIR/p/cpu; [ -s $TMPDIR/p/traces ]"
    )
    ran = await _ran(commands, script, "p")
    if not ran.ok:
        return _failed(command, ran)
    text = b"\n".join(_unpacked(ran).values()).decode(errors="replace")
    costs = of_pprof(text, tree)
    seconds = sum(costs.own.values())
    return _ranked(costs, f"Go's pprof, {seconds:.3g} s in samples of 10 ms", tree, seconds / PPROF_S)


async def _by_samples(commands: Commands, command: str, tree: Tree) -> RepoProfile | None:
    """None if the samples are too few, because other processes do the work."""
    top = str(commands.place.path)
    words = shlex.split(command)
    program = f"{top}/{words[0].removeprefix('./')}"
    job = replace(_job(("env", "-C", top, *_env(commands), program, *words[1:])), profile=True)
    ran = await commands.session.run(job)
    if ran.ending == "exit" and ran.code == 127:
        return RepoProfile(why_not=f"there is no {words[0]} after the build; correct the build or the benchmark")
    if not ran.ok:
        return _failed(command, ran)
    if sum(bool(_addresses(sample)) for sample in ran.samples) < LEAST_SAMPLES:
        return None
    samples = [*ran.samples, *await _further_samples(commands, job, ran)]
    counts = Counter(at for sample in samples for at in _addresses(sample))
    asked = "".join(f"{at:#x}\n" for at, _ in counts.most_common(_ADDRESSES_AT_MOST))
    named = await commands.session.run(
        _job(("sh", "-c", f"addr2line -a -i -f -C -e {shlex.quote(program)} <<ADDRESSES\n{asked}ADDRESSES"))
    )
    frames = dict(frames_of(named.stdout.decode(errors="replace"))) if named.ok else {}
    places = {at: places_of(seen, tree) for at, seen in frames.items()}
    found = Costs()
    for sample in samples:
        add_stack(found, _stack(sample, places, tree), sample.cpu_ns)
    how = f"{len(samples)} samples of its running threads"
    has_lines = any(line for seen in frames.values() for _, _, line in seen)
    how = how if has_lines else f"{how}, by names alone (compile with -g)"
    return _ranked(found, how, tree, len(samples))


async def _further_samples(commands: Commands, job: Job, ran: Ran) -> list[Sample]:
    """Those of more runs of a short program, until there are enough to tell shares of some per cent."""
    found: list[Sample] = []
    for _ in range(RUNS_AT_MOST - 1):
        if not ran.ok or ran.wall_s > SHORT_S or len(ran.samples) + len(found) >= ENOUGH_SAMPLES:
            break
        again = await commands.session.run(job)
        if not again.ok:  # it may not bear what the first run left
            break
        found += again.samples
    return found


def _addresses(sample: Sample) -> list[int]:
    """The addresses in the program, innermost first: where it is, and its calls that led there."""
    return [*([] if sample.module else [sample.address]), *(back - 1 for back in sample.callers)]


def _stack(sample: Sample, places: Mapping[int, list[tuple[Function, int]]], tree: Tree) -> list[tuple[Function, int]]:
    """The functions of a sample with their lines, as far as all are known.

    Without frame pointers a caller is a word on the stack that could be a return address, and may be left there by an
    earlier call: one whose text does not name the function that it would have called is left out.  Go has them.
    """
    stack: list[tuple[Function, int]] = []
    for at in takewhile(places.__contains__, _addresses(sample)):
        if places[at] and (not stack or tree.may_call(places[at], stack[-1])):
            stack += places[at]
    return stack


async def _by_callgrind(commands: Commands, command: str, tree: Tree) -> RepoProfile | None:
    words = (
        "valgrind --tool=callgrind --trace-children=yes --compress-strings=no --compress-pos=no --vgdb=no "
        "--log-file=/dev/null --callgrind-out-file=$TMPDIR/p/%p"
    )
    ran = await _ran(commands, f"mkdir $TMPDIR/p; {words} sh -c {shlex.quote(command)}", "p")
    if not ran.ok:
        return _failed(command, ran, " under valgrind, which takes some fifty times as long")
    costs = Costs()
    for data in _unpacked(ran).values():
        costs.merge(of_callgrind(data.decode(errors="replace"), tree))
    return _ranked(costs, "callgrind, shares of instructions", tree)


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
        processes=PROCESSES, repository=True,
    )  # fmt: skip


def _unpacked(ran: Ran) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with suppress(*BROKEN), opened(ran.files.get(_PACKED, b"")) as packed:  # a program may put a folder in its place
        for member in packed:
            if (data := content(packed, member)) is not None:
                found[member.name] = data
    return found


def _failed(command: str, ran: Ran, how: str = "") -> RepoProfile:
    return RepoProfile(why_not=f"{command!r} fails{how}: {said(ran)}")


def _ranked(costs: Costs, how: str, tree: Tree, samples: float = 0) -> RepoProfile:
    total = sum(costs.own.values())
    if not total:
        return RepoProfile(
            why_not="the profiler saw nothing of the command, or what it wrote cannot be read: it ends too soon, or "
            "starts other programs"
        )
    paid, lost = charged(costs)
    best = sorted(paid, key=lambda function: -paid[function])[:PLACES_KEPT]
    elsewhere = round(lost / total, 4)
    apart = round(outside(costs, lambda one: one.file in tree.texts) / total, 4)
    says_nothing = apart < LEAST_OUTSIDE and elsewhere > UNCOUNTED_AT_MOST
    callers = {one: costs.most_callers(one, CALLERS_KEPT) for one in best}
    found = (
        HotFunction(
            one.file, one.name, costs.lines.get(one, 0) or tree.line_of(one), round(paid[one] / total, 4),
            tuple(caller.name for caller in callers[one]), uncounted=elsewhere,
            called_from=tuple(caller.file for caller in callers[one]), samples=round(min(samples, _COUNT_AT_MOST)),
        )
        for one in best
    )  # fmt: skip
    hot = tuple(one for one in found if one.share >= LEAST_SHARE)
    return RepoProfile(hot, how, elsewhere, outside=None if says_nothing else apart)


def _is_program(command: str) -> bool:
    """Whether a command is one program of the repository, without the shell."""
    first = command.split(maxsplit=1)[0]
    is_plain = not _SHELL & set(command) and "=" not in first and "/" in first and not first.startswith("/")
    return is_plain and not first.endswith((".sh", ".py", ".js", ".pl", ".rb"))


_Way = tuple[Callable[[str], bool], Callable[[Commands, str, Tree], Awaitable[RepoProfile | None]]]
_WAYS: tuple[_Way, ...] = (
    (lambda command: _PYTHON.search(command) is not None, _by_cprofile),
    (lambda command: (_GO.match(command) or _GO_BUILT.match(command)) is not None, _by_pprof),
    (lambda command: _NODE.search(command) is not None, _by_v8),
    (_is_program, _by_samples),
    (lambda _: shutil.which("valgrind") is not None, _by_callgrind),
)
