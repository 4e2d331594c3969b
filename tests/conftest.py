"""What all tests share: the sandbox, and the rule that nothing is skipped but for want of a GPU."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from hypothesis import settings

from maxcode.evaluate.build import Builder
from maxcode.evaluate.program import ProgramEvaluator
from maxcode.evaluate.sandbox import Blob, Job, Sandbox
from maxcode.languages import language
from maxcode.types import Problem, Program, ProgramSpec

ALLOWED_SKIP = "no GPU"

settings.register_profile("maxcode", deadline=None)  # a loaded machine is no failure
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
    return ProgramEvaluator(sandbox, builder)


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
