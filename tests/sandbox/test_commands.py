"""Commands of a repository talk over pairs of sockets and hear of their children's ends, and gain nothing by it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.core import phases
from maxcode.errors import MachineError
from maxcode.sandbox import sandbox as sandbox_module
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from tests.support.sandboxed import RUN, let_others_in, weakened

pytestmark = [pytest.mark.tiers("1"), pytest.mark.sandbox]
ROOM = ("/room", 64)
MEASURED = pytest.mark.parametrize("measured", [False, True], ids=["tests", "benchmark"])
COMMAND = replace(RUN, argv=("sh",), repository=True, processes=64, memory_mb=1024, cpu_s=20.0, wall_s=20.0)


def ran(
    sandbox: Sandbox,
    jobs: list[Job],
    measured: bool = True,
    binds: tuple[tuple[Path, str], ...] = (),
    room: tuple[str, int] = ROOM,
) -> list[Ran]:
    """The jobs one after another in one session, as the commands of a repository have it."""

    async def go() -> list[Ran]:
        blobs = [blob for job in jobs for blob in job.blobs]
        async with sandbox.session(blobs, Mounts({}, binds, room=room)) as session:
            return [await session.run(job, measured) for job in jobs]

    return anyio.run(go)


def shell(command: str) -> Job:
    return replace(COMMAND, argv=("env", "-C", "/room", "sh", "-c", command))


def attacking(program: Blob, *words: str) -> Job:
    return replace(COMMAND, argv=("{artefact}", *words), artefact=program)


HONEST = {
    "a self-pipe": "/usr/bin/python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0)); print(1)'",
    "a child of asyncio": (
        "/usr/bin/python3 -c 'import asyncio as a\n"
        "async def go():\n"
        ' one = await a.create_subprocess_exec("cat", stdin=-1, stdout=-1)\n'
        ' print((await one.communicate(b"1"))[0].decode())\n'
        "a.run(go())'"
    ),
    "a pool": "/usr/bin/python3 -c 'import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1])[0])'",
    "what ends in the background": "sh -c 'sleep 0.05 & wait; echo 1'",
    "a child of make": "printf 'all: a b\\na b:\\n\\t@sleep 0.05\\n' > Makefile; make -j2 && echo 1",
    "a child of node": 'node -e \'require("child_process").exec("echo 1", (e, said) => console.log(said))\'',
    "a node that answers": (
        'echo \'const f = require("child_process").fork; if (process.send) { process.send(1); process.disconnect() } '
        'else f(__filename).on("message", m => console.log(m))\' > a.js; node a.js'
    ),
    "Java": (
        "printf 'public class A { public static void main(String[] a) throws Exception {\\n"
        'System.out.write(new ProcessBuilder("echo", "1").start().getInputStream().readAllBytes());\\n'
        "System.out.flush(); } }' > A.java; java A.java"
    ),
}


@MEASURED
@pytest.mark.parametrize("what", HONEST)
def test_what_needs_a_pair_or_the_end_of_a_child_runs(what: str, measured: bool, sandbox: Sandbox) -> None:
    (found,) = ran(sandbox, [shell(HONEST[what])], measured)
    assert found.ok, found
    assert found.stdout.split() == [b"1"]


@MEASURED
def test_a_pair_of_any_kind_carries_bytes_and_nothing_else(
    measured: bool, sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    talked, tried = ran(sandbox, [attacking(program("pairs"), one) for one in ("talk", "doors")], measured)
    assert (talked.ok, talked.stdout) == (True, b"1a 5a 2a ")
    assert (tried.ok, tried.stdout) == (True, b"")


@pytest.mark.parametrize(("file", "strong", "weak", "passed"), [
    ("shim_filter.h", "{SYS_sendmsg, PAIRED | TALKS, ONE_OF, 0, WHOLE, WORDS(NOTES)},", "", b"passing a descriptor"),
    ("shim_start.h", "limit(job, RLIMIT_NOFILE, MOST_OPEN);", "", b"passing a descriptor"),
])  # fmt: skip
def test_without_its_rules_a_pair_would_carry_more(
    file: str, strong: str, weak: str, passed: bytes, sandbox: Sandbox, program: Callable[[str], Blob], tmp_path: Path
) -> None:
    weak_one = replace(sandbox, shim=weakened(tmp_path, file, strong, weak))
    (tried,) = ran(weak_one, [attacking(program("pairs"), "doors")])
    assert passed in tried.stdout


def test_half_of_a_pair_reaches_no_socket_that_is_shown(
    sandbox: Sandbox, program: Callable[[str], Blob], tmp_path_factory: pytest.TempPathFactory
) -> None:
    shown = tmp_path_factory.mktemp("shown")
    let_others_in(shown)
    rule = "{SYS_sendto, TALKS, ONE_OF, 5, WHOLE, WORDS(0)},"
    weak = replace(sandbox, shim=weakened(tmp_path_factory.mktemp("weak"), "shim_filter.h", rule, ""))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        door.bind(str(shown / "door"))
        (shown / "door").chmod(0o777)
        door.setblocking(False)
        job = attacking(program("pairs"), "send", "/shown/door")
        (sent,) = ran(weak, [job], binds=((shown, "/shown"),))
        assert sent.stdout == b"sent\n" and door.recv(9) == b"note"  # what the rule is for
        (refused,) = ran(sandbox, [job], binds=((shown, "/shown"),))
        assert refused.ok and refused.stdout == b""
        with pytest.raises(BlockingIOError):
            door.recv(9)


def test_full_pairs_count_as_the_memory_of_the_command(sandbox: Sandbox, program: Callable[[str], Blob]) -> None:
    if sandbox.hierarchy is None:
        pytest.skip("no control group here")
    flood = replace(attacking(program("pairs"), "flood"), memory_mb=32, output_mb=1, wall_s=5.0)

    async def go() -> Ran:
        mounts = Mounts(room=ROOM)  # no /tmp, whose size is added to the limit
        async with sandbox.session(flood.blobs, mounts) as session:
            with phases.recording() as recorder:
                ran = await session.run(flood)
                charged.append(sum(phase.cpu_s for phase in recorder.profile().phases))
                return ran

    charged: list[float] = []
    found = anyio.run(go)
    assert found.out_of_memory and not found.ok and found.wall_s > 0.01
    assert charged == [pytest.approx(found.cpu_s, abs=0.001)]
    if counts(sandbox):
        assert found.cpu_s > 0.01


def test_a_session_that_says_nothing_is_no_lack_of_memory(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the kernel killed a child of the command for it."""
    if sandbox.hierarchy is None:
        pytest.skip("no control group here")
    monkeypatch.setattr(sandbox_module, "_ANSWER_S", -6.0)
    greedy = replace(COMMAND, argv=("sh", "-c", "head -c 150m /dev/zero | tail; echo $?; sleep 5"), memory_mb=32)

    async def go() -> None:
        async with sandbox.session([], Mounts(room=ROOM)) as session:
            await session.run(replace(greedy, output_mb=1, wall_s=8.0))

    with pytest.raises(MachineError, match="no answer within 2 s"):
        anyio.run(go)


@pytest.mark.parametrize("how", ["i", "n"])
def test_a_child_whose_end_nobody_hears_of_is_charged(
    how: str, sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    (found,) = ran(sandbox, [attacking(program("unseen"), how)])
    assert found.ok and found.cpu_s >= 0.2
    if counts(sandbox):
        assert found.stdout.endswith(b" 0\n") and found.known_s < 0.1  # so the shim alone would not have seen it


def test_a_handler_hears_of_an_end_where_the_group_counts_and_the_time_is_counted_once(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    for one, heard in ((sandbox, counts(sandbox)), (replace(sandbox, hierarchy=None), False)):
        (found,) = ran(one, [attacking(program("unseen"), "h")])
        assert found.ok and found.stdout == (b"heard 1\n" if heard else b"unheard 1\n")
        assert 0.2 <= found.cpu_s < 0.3


def counts(sandbox: Sandbox) -> bool:
    return sandbox.hierarchy is not None and (sandbox.hierarchy.version == 2 or sandbox.hierarchy.counting is not None)


def test_what_a_command_leaves_is_gone_for_the_next_session(sandbox: Sandbox) -> None:
    stays = (
        "import os, socket, time\n"
        "a, b = socket.socketpair()\n"
        "open('/dev/shm/note', 'w').write('x')\n"
        "if os.fork() == 0: os.setsid(); time.sleep(60)\n"
    )
    looks = "print(os.path.exists('/dev/shm/note'), sum(n.isdigit() for n in os.listdir('/proc')))\n"
    (first,) = ran(sandbox, [shell(f'/usr/bin/python3 -c "{stays}{looks}"')])
    (second,) = ran(sandbox, [shell(f'/usr/bin/python3 -c "import os\n{looks}"')])
    assert first.ok and first.left_over == 1 and first.stdout.startswith(b"True")
    assert second.stdout == b"False 3\n" or second.stdout == b"False 2\n"  # process 1, and this one in its shell


def test_the_files_of_a_repository_may_be_in_dev_shm(sandbox: Sandbox) -> None:
    inside = "/dev/shm/cache/tree"
    job = replace(COMMAND, argv=("env", "-C", inside, "sh", "-c", "touch one /dev/shm/two; ls; ls -d /dev/shm/two"))
    (found,) = ran(sandbox, [job], room=(inside, 64))
    assert (found.ok, found.stdout) == (True, b"one\n/dev/shm/two\n"), found


def test_a_group_that_counts_and_cannot_be_joined_is_done_without(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if sandbox.hierarchy is None:
        pytest.skip("no control group here")
    limiting = replace(sandbox.hierarchy, counting=None)
    monkeypatch.setattr(sandbox_module, "find_hierarchy", lambda: replace(limiting, counting=tmp_path))
    found = anyio.run(Sandbox.open)
    assert found.hierarchy == limiting
    assert any("cpuacct" in reason for reason in found.passed_over)
    assert ran(found, [shell("true")])[0].ok
