"""A sampled profile sees all threads that run, whatever they do meanwhile, and lets the program go on and end."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from maxcode.sandbox import sandbox as session_module
from maxcode.sandbox.sandbox import Job, Mounts, Ran, Sandbox
from tests.support.sandboxed import ATTACKS, RUN

pytestmark = [pytest.mark.tiers("1"), pytest.mark.sandbox]
# Who becomes another program, and how often: each time the sampler may be at any step of its look.
EXECS = {
    "the first thread, beside others that run": ("l", "150"),
    "another thread, while the first one runs": ("t", "40"),
    "another thread, while the first one waits": ("j", "40"),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_ANSWER_S", 3.0)


def profiled(sandbox: Sandbox, attack: str, *words: str) -> Ran:
    """A profiled run of an attack, which has threads."""

    async def go() -> Ran:
        sources = {"a.c": (ATTACKS / attack).read_text()}
        async with sandbox.session([], Mounts(sources)) as session:
            argv = ("gcc", "-O1", "-pthread", "-no-pie", "/src/a.c", "-o", "/tmp/a")
            assert (await session.run(Job(argv, wall_s=60))).ok
            limits = replace(RUN, cpu_s=20.0, wall_s=20.0, memory_mb=512, stack_mb=1, processes=256)
            return await session.run(replace(limits, argv=("/tmp/a", *words), profile=True))

    return anyio.run(go)


@pytest.mark.parametrize("who", EXECS)
def test_a_program_that_becomes_another_while_it_is_looked_at_goes_on(who: str, sandbox: Sandbox) -> None:
    ran = profiled(sandbox, "becoming.c", *EXECS[who])
    assert (ran.ok, ran.stdout) == (True, b"done\n"), ran


def test_of_more_threads_than_can_be_held_all_are_seen(sandbox: Sandbox) -> None:
    ran = profiled(sandbox, "many.c", "70", "70")
    first, second = (int(word, 16) for word in ran.stdout.split())
    own = [sample.address for sample in ran.samples if not sample.module]
    older, younger = sum(first <= at < second for at in own), sum(second <= at < second + 64 for at in own)
    assert ran.ok and older + younger > 20
    assert min(older, younger) > (older + younger) / 10


def test_no_thread_is_traced_from_its_start(sandbox: Sandbox) -> None:
    ran = profiled(sandbox, "traced.c")
    assert (ran.ok, ran.stdout) == (True, b"0\n"), ran
