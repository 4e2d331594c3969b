"""Programs that are called round by round, stopped in between: what the harness ``module`` stands on."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import AsyncExitStack

import anyio
import pytest

from maxcode.sandbox.sandbox import Blob, Calls, Job, Mounts, Ran, Sandbox

# y = x + `count`: a counter that lives in the process tells whether it is the same one in every round.
ADDER = """
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    struct stat about;
    fstat(4, &about);
    char *memory = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    double *x = (double *)(memory + 4096), *y = (double *)(memory + 3 * 4096);
    double count = 0;
    char word = 'd';
    write(6, &word, 1);
    while (read(5, &word, 1) == 1) {
        count++;
        BODY
        *y = *x + count;
        write(6, &word, 1);
    }
    return 0;
}
"""
PLAN = struct.pack("<4I", 2, 1, 0, 0) + struct.pack("<4Q", 8, 0, 8, 1)  # reads x, writes y


def adder(body: str = "") -> str:
    return ADDER.replace("BODY", body)


@pytest.fixture(scope="session")
def build_c(sandbox: Sandbox) -> Callable[[str], Blob]:
    async def build(source: str) -> Blob:
        argv = ("gcc", "-O1", "-pthread", "/src/a.c", "-o", "/tmp/out")
        async with sandbox.session([], Mounts({"a.c": source})) as session:
            ran = await session.run(Job(argv, collect=("/tmp/out",)))
        assert ran.ok, ran.stderr
        return Blob.of(ran.files["/tmp/out"])

    return lambda source: anyio.run(build, source)


@pytest.fixture
def played(sandbox: Sandbox, build_c: Callable[[str], Blob]) -> Callable[..., list[Ran]]:
    def run(source: str, numbers: list[float], **limits: float) -> list[Ran]:
        return anyio.run(_play, sandbox, [build_c(source)], numbers, limits)

    return run


async def _play(sandbox: Sandbox, artefacts: list[Blob], numbers: list[float], limits: dict[str, float]) -> list[Ran]:
    """The answers to being ready and to each number, the artefacts taking turns, with a pause before each."""
    pause_s = limits.pop("pause_s", 0.0)
    plan = Blob.of(PLAN)
    found = []
    async with AsyncExitStack() as stack:
        sides: list[Calls] = []
        for artefact in artefacts:
            session = await stack.enter_async_context(sandbox.session([artefact, plan], bare=True))
            cpu_s, wall_s = limits.get("cpu_s", 2), limits.get("wall_s", 8)
            job = Job(("{artefact}",), artefact, plan, called=True, stepped=True, **{"cpu_s": 2, "wall_s": 8, **limits})  # type: ignore[arg-type]
            sides.append(await stack.enter_async_context(session.calls(job)))
        for side in sides:
            found.append(await side.ready())
        for number in numbers:
            await anyio.sleep(pause_s)
            for side in sides:
                found.append(await side.round(Blob.of(struct.pack("<d", number)), cpu_s, wall_s))
                if found[-1].ending != "answered":
                    return found
    return found


def values(found: list[Ran]) -> list[float]:
    return [struct.unpack("<d", ran.stdout)[0] for ran in found if ran.stdout]


def test_every_round_has_its_own_inputs_and_the_process_lives_on(played: Callable[..., list[Ran]]) -> None:
    found = played(adder(), [10, 20, 30])
    assert [ran.ending for ran in found] == ["answered"] * 4
    assert values(found) == [11, 22, 33]
    assert all(ran.cpu_s > 0 and ran.wall_s > 0 for ran in found[1:])


def test_two_programs_take_turns_and_each_keeps_its_own_count(sandbox: Sandbox, build_c: Callable[[str], Blob]) -> None:
    found = anyio.run(_play, sandbox, [build_c(adder()), build_c(adder("count++;"))], [1.0, 2.0], {"pause_s": 0.0})
    assert values(found) == [2, 3, 4, 6]


def test_its_threads_stand_still_between_rounds(played: Callable[..., list[Ran]]) -> None:
    """Held by the thread's own clock: how much of a round it is given is the machine's affair."""
    head = "#include <pthread.h>\n#include <time.h>\nstatic void *work(void *a) { for (;;) ; return a; }\n"
    body = """
        static pthread_t thread;
        static clockid_t clock;
        static struct timespec last, now;
        if (count == 1) pthread_create(&thread, NULL, work, NULL), pthread_getcpuclockid(thread, &clock);
        if (clock_gettime(clock, &now)) _exit(9);
        double outside = count == 1 ? 0 : now.tv_sec - last.tv_sec + (now.tv_nsec - last.tv_nsec) / 1e9;
        do usleep(1000), clock_gettime(clock, &last);
        while (last.tv_sec - now.tv_sec + (last.tv_nsec - now.tv_nsec) / 1e9 < 0.01);
        *y = *x + outside;
        write(6, &word, 1);
        continue;
    """
    found = played(head + adder(body), [0.0, 0.0, 0.0], pause_s=1.0)
    assert all(outside < 0.4 for outside in values(found)), "it ran while it was stopped for a second"
    assert all(ran.cpu_s > 0.005 for ran in found[1:]), "what the thread used in the round is charged"


def test_who_writes_to_an_input_is_told_so(played: Callable[..., list[Ran]]) -> None:
    found = played(adder("if (count == 2) *x = 0;"), [1, 2, 3])
    assert [ran.ending for ran in found] == ["answered", "answered", "tampered"]


def test_who_leaves_before_its_last_round_has_not_answered(played: Callable[..., list[Ran]]) -> None:
    found = played(adder("if (count == 2) _exit(0);"), [1, 2, 3])
    assert found[-1].ending == "exit"
    assert found[-1].code == 1
    assert not found[-1].ok


def test_the_time_limit_is_one_of_each_round(played: Callable[..., list[Ran]]) -> None:
    tenth = "struct timespec t; do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (AT < LIMIT);"
    tenth = tenth.replace("AT", "t.tv_sec + t.tv_nsec / 1e9").replace("LIMIT", "(count < 4 ? 0.2 * count : 60)")
    found = played("#include <time.h>\n" + adder(tenth), [1, 2, 3, 4], cpu_s=0.4, wall_s=60)
    assert [ran.ending for ran in found] == ["answered"] * 4 + ["timeout"]


def test_a_program_that_never_gets_ready_says_how_it_ended(played: Callable[..., list[Ran]]) -> None:
    found = played("int main(void) { return 3; }", [])
    assert (found[0].ending, found[0].code) == ("exit", 3)


def test_a_session_takes_no_other_job_while_its_program_is_called(
    sandbox: Sandbox, build_c: Callable[[str], Blob]
) -> None:
    plan, artefact = Blob.of(PLAN), build_c(adder())

    async def run() -> None:
        job = Job(("{artefact}",), artefact, plan, called=True, stepped=True)
        async with sandbox.session([artefact, plan], bare=True) as session, session.calls(job) as calls:
            assert (await calls.ready()).ending == "answered"
            with pytest.raises(ValueError, match="calls need a session without a running job"):
                async with session.calls(job):
                    pass

    anyio.run(run)


# Three calls a round: y = x + 1, where y lies in memory of its own, and the exchange holds its address.
HOLDER = """
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
static double kept[3];
int main(void) {
    struct stat about;
    fstat(4, &about);
    char *memory = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    char word = 'd';
    int call = 0;
    write(6, &word, 1);
    STARTED
    while (read(5, &word, 1) == 1) {
        call = word == 'n' ? 0 : call + 1;
        double *x = (double *)(memory + 4096 + call * 4 * 4096), *y = &kept[call];
        uint64_t *address = (uint64_t *)(memory + 3 * 4096 + call * 4 * 4096);
        *y = *x + 1;
        *address = (uint64_t)y;
        BODY
        write(6, &word, 1);
    }
    return 0;
}
"""
HOLDING_PLAN = struct.pack("<4I", 2, 3, 0, 0) + struct.pack("<4Q", 8, 0, 8, 3)


@pytest.fixture
def held(sandbox: Sandbox, build_c: Callable[[str], Blob]) -> Callable[..., list[Ran]]:
    async def play(artefact: Blob, rounds: int, started: bool) -> list[Ran]:
        plan = Blob.of(HOLDING_PLAN)
        job = Job(("{artefact}",), artefact, plan, called=True, stepped=True, started=started)
        async with sandbox.session([artefact, plan], bare=True) as session, session.calls(job) as calls:
            found = [await calls.ready()]
            for number in range(rounds):
                values = [10.0 * number + call for call in range(3)]
                found.append(await calls.round(Blob.of(struct.pack("<3d", *values)), 2, 8))
                if found[-1].ending != "answered":
                    break
            return found

    def run(body: str = "", rounds: int = 2, started: str = "") -> list[Ran]:
        artefact = build_c(HOLDER.replace("BODY", body).replace("STARTED", started))
        return anyio.run(play, artefact, rounds, bool(started))

    return run


def test_what_a_program_holds_is_read_from_its_memory_after_every_call(held: Callable[..., list[Ran]]) -> None:
    found = held()
    assert [ran.ending for ran in found] == ["answered"] * 3
    assert [struct.unpack("<3d", ran.stdout) for ran in found[1:]] == [(1, 2, 3), (11, 12, 13)]


def test_what_a_call_leaves_to_the_next_one_is_not_read(held: Callable[..., list[Ran]]) -> None:
    late = "static double *before; if (before) *before += 1; *y -= 1; before = y;"
    (_, found) = held(late, rounds=1)
    assert found.ending == "tampered", "an output changed after its call"


def test_the_inputs_of_a_call_come_when_the_output_before_was_read(held: Callable[..., list[Ran]]) -> None:
    """The sum of the inputs of a round cannot be known at its first call: it sees those of the round before, of which
    the shim overwrote one call's with a pattern, a tiny number."""
    ahead = "if (call == 0) *y = *(double *)((char *)x + 4 * 4096) + *(double *)((char *)x + 8 * 4096);"
    found = held(ahead, rounds=2)
    assert struct.unpack("<3d", found[2].stdout)[0] in (1 + 2, 1, 2)


def test_an_address_of_nothing_gives_no_bytes_of_anything(held: Callable[..., list[Ran]]) -> None:
    (_, found) = held("if (call == 1) *address = 64;", rounds=1)
    assert found.ending == "answered"
    assert struct.unpack("<d", found.stdout[:8]) == (1.0,) and found.stdout[8:16] == b"\xff" * 8


def test_the_time_until_a_started_program_is_ready_comes_apart(held: Callable[..., list[Ran]]) -> None:
    work = "for (volatile long i = 0; i < 30000000; i++) ; write(6, &word, 1);"
    found = held("", rounds=1, started="read(5, &word, 1); if (word != 's') return 3; word = 'd';" + work)
    assert [ran.ending for ran in found] == ["answered"] * 2
    assert found[0].cpu_s > 10 * found[1].cpu_s > 0


def test_the_outputs_of_a_round_are_no_more_than_its_limit(sandbox: Sandbox, build_c: Callable[[str], Blob]) -> None:
    """One memory in the place of every output takes none of the program's own, and much where it is written out."""
    artefact = build_c(HOLDER.replace("kept[3]", "kept[1 << 18]").replace("BODY", "").replace("STARTED", ""))
    plan = Blob.of(struct.pack("<4I", 2, 40, 0, 0) + struct.pack("<4Q", 8, 0, 1 << 20, 3))

    async def play() -> Ran:
        job = Job(("{artefact}",), artefact, plan, called=True, stepped=True, output_mb=3)
        async with sandbox.session([artefact, plan], bare=True) as session, session.calls(job) as calls:
            await calls.ready()
            return await calls.round(Blob.of(bytes(8 * 40)), 2, 8)

    found = anyio.run(play)
    assert found.ending == "output" and len(found.stdout) == 3 << 20
