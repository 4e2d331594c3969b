"""Wild programs in the sandbox: each is stopped, charged, and leaves nothing to the next."""

from __future__ import annotations

import io
import mmap
import os
import re
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.errors import MachineError
from maxcode.sandbox import jobs
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sample, Sandbox, Session
from tests.support.sandboxed import ATTACKS, RUN, Attack

pytestmark = [pytest.mark.tiers("1", "2"), pytest.mark.sandbox]
forking = pytest.mark.tiers("1")  # what tier 2 does with programs that fork: test_tier_2.py


def test_an_honest_program_gives_its_output_and_its_time(attack: Attack) -> None:
    first, second = attack("honest", (), ())
    assert first.ok
    assert first.stdout == second.stdout != b""
    assert 0.001 < first.cpu_s <= first.wall_s + 0.001
    assert first.left_over == first.spawned == 0
    assert first.max_rss_kb > 100


def test_an_endless_loop_is_stopped_at_its_cpu_limit_and_charged(attack: Attack) -> None:
    (ran,) = attack("loop", cpu_s=0.3)
    assert ran.ending == "timeout"
    assert 0.3 <= ran.cpu_s < 0.6


def test_the_wall_clock_stops_a_program_that_waits(attack: Attack) -> None:
    (ran,) = attack("hidden", ("never",), wall_s=0.05, cpu_s=0.5)
    assert ran.ending == "timeout"
    assert ran.wall_s >= 0.05


@forking
def test_a_fork_bomb_is_capped_and_gone_afterwards(attack: Attack) -> None:
    (ran,) = attack("forks", cpu_s=0.5, wall_s=1.0, processes=16)
    assert ran.ending == "timeout"
    assert ran.left_over <= 16
    (next_run,) = attack("reading")
    assert next_run.stdout == b"process 1\n"


def test_four_gigabytes_are_not_to_be_had(attack: Attack) -> None:
    (ran,) = attack("memory")
    assert not ran.ok
    assert ran.max_rss_kb < 400 << 10
    assert ran.out_of_memory or ran.code == 3


@forking
def test_many_processes_together_get_no_more_than_one(attack: Attack, sandbox: Sandbox) -> None:
    (ran,) = attack("memories", memory_mb=512)
    if sandbox.hierarchy is None:
        assert "limited per process" in sandbox.describe()
    else:
        assert ran.ok
        assert ran.out_of_memory
        assert int(ran.stdout) <= 3


@pytest.mark.parametrize("channel", ["1", "2"])
@pytest.mark.parametrize("stubborn", [(), ("stubborn",)])
def test_an_output_flood_is_cut_off(attack: Attack, channel: str, stubborn: tuple[str, ...]) -> None:
    (ran,) = attack("flood", (channel, *stubborn), output_mb=2)
    assert ran.ending == "output"
    assert len(ran.stdout) == (2 << 20 if channel == "1" else 0)
    assert len(ran.stderr) == (64 << 10 if channel == "2" else 0)


def test_a_program_that_exits_at_once_is_told_apart_by_its_status(attack: Attack) -> None:
    ended = [(ran.ending, ran.code, ran.ok) for ran in attack("crash", (), ("0",), ("7",))]
    assert ended == [("exit", 0, True), ("exit", 0, True), ("exit", 7, False)]


def test_crashes_are_reported_by_signal(attack: Attack) -> None:
    crash, abort, recursion = attack("crash", ("crash",), ("abort",), ("recurse",), stack_mb=16)
    assert (crash.ending, crash.code) == ("signal", 11)
    assert (abort.ending, abort.code) == ("signal", 6)
    assert (recursion.ending, recursion.code) == ("signal", 11)


@forking
def test_daemons_left_behind_are_killed_counted_and_charged(attack: Attack) -> None:
    first, second = attack("daemon", (), ())
    assert first.ok
    assert first.left_over == second.left_over == 3
    assert first.spawned == 6
    assert first.cpu_s > 0.005


@forking
def test_after_daemons_the_next_run_is_alone(sandbox: Sandbox, program: Callable[[str], Blob]) -> None:
    async def runs() -> tuple[Ran, Ran]:
        wild, look = program("daemon"), program("reading")
        async with sandbox.session([wild, look]) as session:
            return (
                await session.run(replace(RUN, artefact=wild)),
                await session.run(replace(RUN, artefact=look)),
            )

    program("daemon"), program("reading")
    left, found = anyio.run(runs)
    assert left.left_over == 3
    assert found.stdout == b"process 1\n"


@forking
def test_work_hidden_in_an_orphaned_grandchild_is_charged(attack: Attack) -> None:
    (ran,) = attack("hidden", ("o",))
    assert ran.ok
    assert ran.stdout == b"done\n"
    assert ran.cpu_s >= 0.1


@forking
def test_work_hidden_behind_an_ignored_child_is_charged(attack: Attack) -> None:
    (ran,) = attack("hidden", ("i",))
    assert ran.ok
    assert ran.cpu_s >= 0.1


def test_the_time_of_all_threads_is_charged(attack: Attack, sandbox: Sandbox) -> None:
    (ran,) = attack("threads")
    assert ran.ok
    assert ran.cpu_s >= 0.08
    assert ran.spawned == (4 if sandbox.forks else 0)  # unknown where the counter is the whole machine's


def test_nothing_is_remembered_from_run_to_run(attack: Attack) -> None:
    assert [ran.stdout for ran in attack("cache", (), (), (), stdin=b"abcdefgh")] == [b"nothing\n"] * 3


def test_a_memory_file_that_the_kernel_still_holds_is_sealed_a_little_later(monkeypatch: pytest.MonkeyPatch) -> None:
    create, held = os.memfd_create, list[mmap.mmap]()

    def create_and_map(name: str, flags: int) -> int:
        fd = create(name, flags)
        os.truncate(fd, 4096)
        held.append(mmap.mmap(fd, 4096))  # a mapping that can be written to is what the kernel refuses for, too
        return fd

    monkeypatch.setattr(os, "memfd_create", create_and_map)
    threading.Timer(0.2, lambda: held[0].close()).start()
    with Blob.of(b"x" * 4096) as blob:
        assert blob.read() == b"x" * 4096
        with pytest.raises(OSError, match="not permitted"):
            os.pwrite(blob.fd, b"y", 0)
    monkeypatch.setattr(jobs, "_SEAL_WAIT_S", 0.0)
    with pytest.raises(MachineError, match="cannot seal a memory file: Device or resource busy"):
        Blob.of(b"x")
    held[1].close()


def test_when_the_input_was_read_before_is_not_to_be_seen(sandbox: Sandbox, program: Callable[[str], Blob]) -> None:
    async def runs(artefact: Blob, stdin: Blob) -> list[bytes]:
        async with sandbox.session([artefact, stdin]) as session:
            job = replace(RUN, artefact=artefact, stdin=stdin)
            first = await session.run(job)
            await anyio.sleep(0.7)
            return [first.stdout, (await session.run(job)).stdout]

    with Blob.of(b"input") as stdin:
        assert anyio.run(runs, program("accessed"), stdin) == [b"now\n", b"now\n"]


def test_the_hosts_files_and_processes_are_not_there(attack: Attack, sandbox: Sandbox, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.write_text("42")
    answers.chmod(0o644)
    paths = ("/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/sys", "/boot", "/proc/1/root", "/proc/kcore")
    (ran,) = attack("reading", (*paths, str(answers), str(Path(__file__)), str(Path.home())))
    assert ran.stdout == (b"process 1\n" if sandbox.tier.name == "1" else b"")


def test_no_socket_of_any_family_opens(attack: Attack) -> None:
    (ran,) = attack("sockets")
    assert ran.ok
    assert ran.stdout == b""


def test_the_shim_cannot_be_killed_traced_or_read(attack: Attack) -> None:
    for ran in attack("parent", (), ()):
        assert ran.ok
        assert re.fullmatch(rb"parent \d+\n", ran.stdout)


def test_stdin_is_rewound_private_and_read_only(attack: Attack) -> None:
    for ran in attack("echo", (), (), stdin=b"input"):
        assert ran.ok
        assert ran.stdout == b"inputinput"


def test_arguments_environment_and_descriptors_tell_nothing(
    attack: Attack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        (ran,) = attack("inherited", ("given",))
    said = ran.stdout.decode().splitlines()
    assert said[:2] == ["word program", "word given"]
    assert {line for line in said if line.startswith("variable")} == {
        f"variable {name}" for name in ("PATH", "HOME", "TMPDIR", "LC_ALL", "PADDING")
    }
    assert [line for line in said if line.startswith("descriptor")] == [f"descriptor {fd}" for fd in range(3)]


def test_a_wild_program_does_not_change_what_the_next_is_measured_at(
    sandbox: Sandbox, program: Callable[[str], Blob]
) -> None:
    async def runs() -> tuple[list[Ran], list[Ran]]:
        honest = replace(RUN, artefact=program("honest"))
        wild = [
            replace(RUN, artefact=program("loop"), cpu_s=0.1),
            replace(RUN, artefact=program("forks"), cpu_s=0.1, wall_s=0.2),
            replace(RUN, artefact=program("memory")),
            replace(RUN, artefact=program("flood"), argv=("{artefact}", "1")),
            replace(RUN, artefact=program("daemon")),
        ]
        blobs = [blob for job in (honest, *wild) for blob in job.blobs]
        alone: list[Ran] = []
        after: list[Ran] = []  # in turn, so that others on the machine are beside both
        async with sandbox.session(blobs) as clean, sandbox.session(blobs) as wildly:
            for job in wild:
                alone.append(await clean.run(honest))
                assert not (await wildly.run(job)).spawned < 0
                after.append(await wildly.run(honest))
        return alone, after

    for name in ("honest", "loop", "forks", "memory", "flood", "daemon"):
        program(name)
    alone, after = anyio.run(runs)
    assert {ran.stdout for ran in (*alone, *after)} == {alone[0].stdout}
    assert all(ran.ok and not ran.left_over and not ran.out_of_memory for ran in after)
    assert min(ran.cpu_s for ran in after) < 1.5 * min(ran.cpu_s for ran in alone)


def test_a_python_program_runs_from_its_archive(sandbox: Sandbox) -> None:
    text = "import sys, other\nprint(other.x + int(sys.stdin.read()), sys.argv[1:])\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("__main__.py", text)
        archive.writestr("other.py", "x = 40\n")

    async def runs() -> list[Ran]:
        with Blob.of(buffer.getvalue()) as artefact, Blob.of(b"2") as given:
            async with sandbox.session([artefact, given]) as session:
                job = replace(RUN, argv=("/usr/bin/python3", "-I", "{artefact}"), artefact=artefact, stdin=given)
                return [await session.run(job) for _ in range(2)]

    assert [ran.stdout for ran in anyio.run(runs)] == [b"42 []\n"] * 2


def test_what_cannot_be_started_ends_with_status_127(sandbox: Sandbox) -> None:
    async def run() -> Ran:
        with Blob.of(b"not a program") as artefact:
            async with sandbox.session([artefact]) as session:
                return await session.run(replace(RUN, artefact=artefact))

    ran = anyio.run(run)
    assert (ran.ending, ran.code) == ("exit", 127)
    assert b"Exec format error" in ran.stderr


def test_a_blob_is_sealed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"bytes")
    with Blob.of(tmp_path / "file") as blob:
        assert (blob.read(), blob.size) == (b"bytes", 5)
        with pytest.raises(PermissionError):
            os.pwrite(blob.fd, b"x", 0)
        with pytest.raises(PermissionError):
            os.ftruncate(blob.fd, 0)


def test_a_job_may_only_use_what_its_session_was_given(sandbox: Sandbox) -> None:
    async def run() -> None:
        with Blob.of(b"x") as stranger:
            async with sandbox.session([]) as session:
                await session.run(replace(RUN, argv=("cat",), stdin=stranger))

    with pytest.raises(ValueError, match="opened with"):
        anyio.run(run)


async def _profile(session: Session, wanted: int) -> list[Sample]:
    """Samples of as many runs of /tmp/a as it takes; on a busy machine one run of it gives few."""
    samples: list[Sample] = []
    while len(samples) < wanted:
        ran = await session.run(replace(RUN, argv=("/tmp/a",), profile=True))
        assert ran.ok
        assert ran.samples, ran.unsampled
        samples += ran.samples
    return samples


async def _functions(session: Session, addresses: Iterable[int]) -> list[str]:
    """The functions of /tmp/a at these addresses."""
    said = await session.run(Job(("addr2line", "-f", "-e", "/tmp/a", *(f"{at:x}" for at in addresses))))
    return said.stdout.decode().splitlines()[::2]


async def _times(session: Session, samples: Iterable[Sample]) -> Counter[str]:
    """The CPU time in each function of /tmp/a, with that in the libraries it calls."""
    spent: Counter[int] = Counter()
    for sample in samples:
        if not sample.module or sample.callers:
            spent[sample.callers[0] - 1 if sample.module else sample.address] += sample.cpu_ns
    names = await _functions(session, spent)
    return sum((Counter({name: ns}) for name, ns in zip(names, spent.values(), strict=True)), Counter())


def test_a_profile_finds_the_function_where_the_time_goes(sandbox: Sandbox) -> None:
    source = (ATTACKS / "honest.c").read_text()

    async def functions() -> tuple[Counter[str], list[str]]:
        async with sandbox.session([], Mounts({"a.c": source})) as session:
            assert (await session.run(Job(("gcc", "-O1", "-g1", "/src/a.c", "-o", "/tmp/a"), wall_s=60))).ok
            samples = [sample for _ in range(4) for sample in await _profile(session, 1)]  # of four runs at least
            callers = {caller - 1 for sample in samples for caller in sample.callers}
            return await _times(session, samples), await _functions(session, callers)

    times, callers = anyio.run(functions)
    assert times["hot"] > times["warm"] > 0
    assert "main" in callers


def test_time_in_a_library_is_traced_back_to_the_program(sandbox: Sandbox) -> None:
    source = """
#include <stdlib.h>
static int numbers[1 << 18];
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static void sorting(void) { qsort(numbers, 1 << 18, sizeof numbers[0], order); }
int main(void) { for (int i = 0; i < 1 << 18; i++) numbers[i] = rand(); sorting(); return 0; }
"""

    async def callers() -> list[str]:
        async with sandbox.session([], Mounts({"a.c": source})) as session:
            assert (await session.run(Job(("gcc", "-O1", "-g1", "/src/a.c", "-o", "/tmp/a"), wall_s=60))).ok
            samples = await _profile(session, 60)
            library = [sample for sample in samples if sample.module.startswith("libc")]
            assert library
            asked = [f"{sample.callers[0] - 1:x}" for sample in library if sample.callers]
            said = await session.run(Job(("addr2line", "-f", "-e", "/tmp/a", *asked)))
            return said.stdout.decode().splitlines()[::2]

    names = anyio.run(callers)
    assert names.count("sorting") > len(names) / 2


THREADS = """
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int rings;
static void ring(int signal) { (void)signal; rings++; }
__attribute__((noinline)) static unsigned hot(unsigned n) {
    unsigned s = 1;
    for (unsigned i = 0; i < n; i++) s = s * 1664525u + i % 7;
    return s;
}
static void *brief(void *given) { *(unsigned *)given += hot(20000); return NULL; }
static void *work(void *given) { *(unsigned *)given += hot(400000000u); exit(0); }
int main(void) {
    const struct itimerval often = {{0, 500}, {0, 500}};
    unsigned sum = 0;
    pthread_t one;
    signal(SIGALRM, ring);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 100; i++) pthread_create(&one, NULL, brief, &sum), pthread_join(one, NULL);
    pthread_create(&one, NULL, work, &sum);
    for (;;) pause();
}
"""


def test_the_threads_that_run_are_sampled_and_neither_signals_nor_their_ends_stop_the_program(sandbox: Sandbox) -> None:
    async def places() -> Counter[str]:
        async with sandbox.session([], Mounts({"a.c": THREADS})) as session:
            assert (await session.run(Job(("gcc", "-O1", "-g1", "-pthread", "/src/a.c", "-o", "/tmp/a"), wall_s=60))).ok
            return await _times(session, await _profile(session, 60))

    times = anyio.run(places)
    assert times["hot"] > times.total() * 0.6 > times["main"]


def test_a_program_that_was_given_one_core_cannot_take_another(attack: Attack) -> None:
    (ran,) = attack("cores", one_core=True)
    assert ran.stdout == b"-1 1\n"
    (free,) = attack("cores")
    assert free.stdout.split()[1] == str(len(os.sched_getaffinity(0))).encode()
