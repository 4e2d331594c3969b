"""However a session ends, nothing of it stays: no process, no descriptor, no control group."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.errors import InputError, MachineError, UnsafeError
from maxcode.sandbox.sandbox import Blob, Mounts, Sandbox
from tests.support.sandboxed import RUN, let_others_in

pytestmark = [pytest.mark.tiers("1", "2"), pytest.mark.sandbox]

SHIMS = (b"/shim", b"/proc/self/fd/")  # how the shim of a session is called in each tier

DRIVER = """
import anyio, sys
from maxcode.sandbox.sandbox import Job, Mounts, Sandbox

async def main():
    sandbox = await Sandbox.open()
    async with sandbox.session([], Mounts({})) as session:  # a build: it may fork
        print("open", flush=True)
        spin = "while :; do :; done"
        await session.run(Job(("sh", "-c", f"setsid sh -c '{spin}' & {spin}"), cpu_s=600, wall_s=600))

anyio.run(main)
"""


def below(pid: int) -> set[int]:
    """The processes that descend from ``pid``."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return found


def command(pid: int) -> bytes:
    """How a process was called; empty if it has ended."""
    return read(Path(f"/proc/{pid}/cmdline"))


def groups(sandbox: Sandbox) -> set[Path]:
    """The control groups that this process made."""
    parents = sandbox.hierarchy.parents if sandbox.hierarchy else ()
    return {folder for parent in parents for folder in parent.glob(f"maxcode-{os.getpid()}-*")}


def until(holds: Callable[[], bool]) -> bool:
    """Whether it comes to hold within ten seconds."""
    deadline = time.monotonic() + 10
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


@pytest.mark.parametrize("tier", ["1", "2"])
def test_killing_maxcode_leaves_no_sandboxed_process(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", tier)
    with subprocess.Popen([sys.executable, "-c", DRIVER], stdout=subprocess.PIPE) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"open\n"
        assert until(lambda: len(below(driver.pid)) >= 4 - (tier == "2"))
        sandboxed = below(driver.pid)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in sandboxed))


def test_a_stale_control_group_is_swept_at_the_next_start(sandbox: Sandbox) -> None:
    if sandbox.hierarchy is None:
        assert "no cgroup" in sandbox.describe()
        return
    with subprocess.Popen(["true"]) as dead:
        pass
    stale = [parent / f"maxcode-{dead.pid}-00000000" for parent in sandbox.hierarchy.parents]
    for folder in stale:
        folder.mkdir()
    anyio.run(Sandbox.open)
    assert not any(folder.exists() for folder in stale)


def test_cancelling_a_run_ends_its_processes_before_the_block_is_left(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    async def cancelled(artefact: Blob) -> None:
        with anyio.move_on_after(0.1) as scope:
            async with sandbox.session([artefact]) as session:
                await session.run(replace(RUN, artefact=artefact, cpu_s=600, wall_s=600))
        assert scope.cancelled_caught
        assert below(os.getpid()) <= before

    loop = program("loop")
    before = below(os.getpid())
    anyio.run(cancelled, loop)
    assert not groups(sandbox)


def test_after_a_cancelled_run_the_session_is_closed_to_others(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    async def interrupted(artefact: Blob) -> None:
        async with sandbox.session([artefact]) as session:
            with anyio.move_on_after(0.05):
                await session.run(replace(RUN, artefact=artefact, cpu_s=600, wall_s=600))
            with pytest.raises(MachineError, match="open a new session"):
                await session.run(replace(RUN, artefact=artefact))

    anyio.run(interrupted, program("loop"))


def test_an_error_inside_the_block_ends_the_session(sandbox: Sandbox) -> None:
    async def fails() -> None:
        async with sandbox.session([]):
            raise RuntimeError("ours")

    before = below(os.getpid())
    with pytest.raises(RuntimeError, match="ours"):
        anyio.run(fails)
    assert below(os.getpid()) <= before
    assert not groups(sandbox)


def test_a_shim_that_dies_is_a_broken_machine(sandbox: Sandbox) -> None:
    async def killed() -> None:
        async with sandbox.session([]) as session:
            started = below(os.getpid()) - before
            (shim,) = [pid for pid in started if command(pid).startswith(SHIMS)]
            os.kill(shim, signal.SIGKILL)
            await session.run(replace(RUN, argv=("true",)))

    before = below(os.getpid())
    with pytest.raises(MachineError, match="sandbox"):
        anyio.run(killed)


def test_what_a_killed_shim_leaves_ends_with_its_control_group(sandbox: Sandbox) -> None:
    async def killed() -> None:
        async with sandbox.session([], Mounts({})) as session:
            (shim,) = [pid for pid in below(os.getpid()) if command(pid).startswith(SHIMS)]
            async with anyio.create_task_group() as group:
                group.start_soon(session.run, replace(RUN, argv=("sh", "-c", f"{spin} & {spin}"), cpu_s=60, wall_s=60))
                while len(spinning()) < 2:
                    await anyio.sleep(0.01)
                os.kill(shim, signal.SIGKILL)

    def spinning() -> list[Path]:
        return [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in read(path)]

    mark = f"maxcode-test-{os.getpid()}"
    spin = f"setsid sh -c ': {mark}; while :; do :; done'"
    if sandbox.hierarchy is None:  # then namespaces are what ends it, and in tier 2 nothing does but its limits
        assert "no cgroup" in sandbox.describe()
        return
    with pytest.raises(ExceptionGroup, match="unhandled"):
        anyio.run(killed)
    assert until(lambda: not spinning())


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_thirty_sessions_leave_no_descriptor_and_no_group(sandbox: Sandbox) -> None:
    async def many() -> None:
        async with sandbox.session([], Mounts({"a": "text"})):
            gc.collect()  # what earlier tests have left open
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(30):
            async with sandbox.session([], Mounts({"a": "text"})) as session:
                job = replace(RUN, argv=("cp", "/src/a", "/tmp/b"), collect=("/tmp/b",))
                assert (await session.run(job)).files == {"/tmp/b": b"text"}
        assert len(os.listdir("/proc/self/fd")) == before

    anyio.run(many)
    assert not groups(sandbox)


def test_hundreds_of_runs_in_one_session_leave_no_descriptor_in_the_shim(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    async def many(artefact: Blob) -> list[bytes]:
        async with sandbox.session([artefact]) as session:
            first = [
                await session.run(replace(RUN, artefact=artefact, profile=number % 50 == 0)) for number in range(350)
            ]
            return [ran.stdout for ran in first]

    assert len(set(anyio.run(many, program("inherited")))) == 1


def test_sessions_run_side_by_side(sandbox: Sandbox, program: Callable[[str], Blob]) -> None:
    async def both(artefact: Blob) -> None:
        async def one() -> None:
            async with sandbox.session([artefact]) as session:
                done.append((await session.run(replace(RUN, artefact=artefact))).stdout)

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(one)

    done: list[bytes] = []
    anyio.run(both, program("reading"))
    assert done == [b"process 1\n" if sandbox.tier.name == "1" else b""] * 6


def test_it_works_beside_a_loop_that_is_already_running(sandbox: Sandbox) -> None:
    """As in a notebook: this thread's loop runs, the work is done by a loop in another thread."""

    async def inner() -> bytes:
        async with sandbox.session([]) as session:
            return (await session.run(replace(RUN, argv=("echo", "here")))).stdout

    async def outer() -> None:
        worker = threading.Thread(target=lambda: said.append(anyio.run(inner)))
        worker.start()
        while worker.is_alive():
            await asyncio.sleep(0.001)

    said: list[bytes] = []
    asyncio.run(outer())
    assert said == [b"here\n"]


def test_a_machine_without_bubblewrap_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnsafeError, match="install bubblewrap") as refused:
        anyio.run(Sandbox.open)
    assert refused.value.exit_code == 3


def test_a_bubblewrap_that_is_not_allowed_to_work_is_refused_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "1")
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\n[ $1 = --version ] && exec echo bubblewrap 0.8.0\necho bwrap: No permissions >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    let_others_in(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UnsafeError, match=r"bwrap: No permissions\n.*user namespaces"):
        anyio.run(Sandbox.open)


def test_a_bubblewrap_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAXCODE_SANDBOX", "1")
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.4.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UnsafeError, match="or later"):
        anyio.run(Sandbox.open)


def test_a_cache_folder_that_others_can_write_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    monkeypatch.setenv("MAXCODE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match="MAXCODE_CACHE"):
        anyio.run(Sandbox.open)


def test_a_cache_folder_that_cannot_be_made_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAXCODE_CACHE", "/proc/cache")
    with pytest.raises(InputError, match="cannot use the cache folder /proc/cache"):
        anyio.run(Sandbox.open)
