"""Attack programs, compiled and run in the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import anyio
import pytest
from sandboxed import ATTACKS, RUN, Attack

from maxcode.evaluate.sandbox import Blob, Job, Ran, Sandbox


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests marked with tiers("1", "2"), by themselves or by their module, are made in each of these tiers."""
    marker = metafunc.definition.get_closest_marker("tiers")
    if marker is not None and "sandbox" in metafunc.fixturenames:
        metafunc.parametrize("sandbox", marker.args, indirect=True, scope="session", ids="tier{}".format)


@pytest.fixture(scope="session")
def program(sandbox: Sandbox) -> Callable[[str], Blob]:
    """The artefact of attacks/NAME.c, built in the sandbox."""

    async def build(name: str) -> Blob:
        source = (ATTACKS / f"{name}.c").read_text()
        argv = ("gcc", "-O1", "-g1", "-Wall", "-Wextra", "-pthread", "/src/a.c", "-o", "/tmp/out")
        async with sandbox.session([], sources={"a.c": source}) as session:
            ran = await session.run(Job(argv, cpu_s=20, wall_s=60, collect=("/tmp/out",)))
        assert ran.ok, ran.stderr.decode()
        return Blob.of(ran.files["/tmp/out"])

    return cache(lambda name: anyio.run(build, name))


@pytest.fixture(scope="session")
def attack(sandbox: Sandbox, program: Callable[[str], Blob]) -> Attack:
    """Runs attacks/NAME.c once for each tuple of arguments, in one session: (name, *arguments, stdin, limits)."""

    async def runs(job: Job, arguments: tuple[tuple[str, ...], ...]) -> list[Ran]:
        async with sandbox.session(job.blobs) as session:
            return [await session.run(replace(job, argv=("{artefact}", *words))) for words in arguments]

    def start(name: str, *arguments: tuple[str, ...], stdin: bytes = b"", **limits: float) -> list[Ran]:
        with Blob.of(stdin) as given:
            job = replace(RUN, artefact=program(name), stdin=given, **limits)  # type: ignore[arg-type]
            return anyio.run(runs, job, arguments or ((),))

    return start
