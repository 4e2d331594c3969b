"""What all tests share: the sandbox, and the rule that nothing is skipped but for want of a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from pathlib import Path

import anyio
import pytest
from hypothesis import settings

from maxcode.code.languages import language
from maxcode.core.types import Problem, Program, ProgramSpec
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Blob, Job, Mounts, Ran, Sandbox
from maxcode.sandbox.tiers import VARIABLE
from tests.support.rules import SHORT
from tests.support.sandboxed import ATTACKS, RUN, Attack

ALLOWED_SKIP = "no GPU"
CLOSED = "closed"  # no tier has this name, so that whoever opens a sandbox is refused, in child processes too

ROOT = Path(__file__).parents[1]
os.environ["PYTHONPATH"] = f"{ROOT}:{ROOT / 'src'}"  # processes that tests start: this checkout and its tests/support

# A loaded machine is no failure, and what is drawn does not depend on the day (benchmarks/fuzz.py draws anew).
settings.register_profile("maxcode", deadline=None, derandomize=True)
settings.load_profile("maxcode")


@pytest.fixture(scope="session")
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """This machine's sandbox, or a tier of it (an indirect parameter); where it cannot start it fails, never skips."""
    with pytest.MonkeyPatch.context() as patched:
        if tier := getattr(request, "param", ""):
            patched.setenv("MAXCODE_SANDBOX", tier)
        return anyio.run(Sandbox.open)


@pytest.fixture(scope="session")
def builder(sandbox: Sandbox) -> Builder:
    return Builder(sandbox, sandbox.cache)


@pytest.fixture(scope="session")
def sandbox_evaluator(sandbox: Sandbox, builder: Builder) -> ProgramEvaluator:
    """The whole ladder; confirmations are short (``support/rules.py``)."""
    return ProgramEvaluator(sandbox, builder, SHORT)


@pytest.fixture(scope="session")
def compile_and_run(sandbox: Sandbox, builder: Builder) -> Callable[..., str]:
    """Build a source in the sandbox and run it there: (source, stdin, language) -> stdout."""

    async def job(source: str, stdin: str, tongue: str) -> str:
        row = language(tongue)
        program = Program({f"program{row.suffixes[0]}": source})
        problem = Problem("test", "program", tongue, program, ProgramSpec(flags=row.default_flags))
        built = await builder.build(problem, program)
        assert built.artefact is not None, f"{built.reason}\n{built.diagnostics}"
        given = Blob.of(stdin.encode())
        async with sandbox.session([built.artefact, given]) as session:
            ran = await session.run(
                Job(
                    argv=row.run,
                    artefact=built.artefact,
                    stdin=given,
                    cpu_s=10,
                    wall_s=32,
                    memory_mb=1024,
                    output_mb=64,
                    processes=8,
                )
            )
        assert ran.ok, f"{ran.ending} {ran.code}: {ran.stderr[:500]!r}"
        return ran.stdout.decode()

    def run(source: str, stdin: str = "", tongue: str = "cpp") -> str:
        return anyio.run(job, source, stdin, tongue)

    return run


def pytest_configure(config: pytest.Config) -> None:
    """Without the tests marked `sandbox` no sandbox opens, so that a test that lacks the mark fails."""
    if "not sandbox" in config.option.markexpr:
        os.environ[VARIABLE] = CLOSED


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test with the fixture `sandbox`, by itself or through other fixtures, is marked `sandbox`."""
    for item in items:
        if "sandbox" in getattr(item, "fixturenames", ()):
            item.add_marker("sandbox")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and f"{VARIABLE}={CLOSED}" in str(report.longrepr):
        report.sections.append(("what to do", "This test opens a sandbox: mark it with @pytest.mark.sandbox."))
    return report


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
        async with sandbox.session([], Mounts({"a.c": source})) as session:
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"skipped: {report.nodeid}: {reason(report)}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if any(ALLOWED_SKIP not in reason(report) for report in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def reason(report: pytest.TestReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
