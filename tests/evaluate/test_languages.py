"""Programs in Rust, Go, Java and JavaScript are built, run, timed and judged, and known cheats of them win nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from maxcode.code.languages import LANGUAGES, language
from maxcode.core.types import Action, Case, Evaluation, Outcome, Problem, Program, ProgramSpec
from maxcode.errors import InputError, MachineError
from maxcode.evaluate.ladder.build import Builder, refuse_missing
from maxcode.evaluate.ladder.indistinguishable import session_of
from maxcode.evaluate.ladder.prepare import Input
from maxcode.evaluate.ladder.verify import job_for
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.sandbox.jobs import Ran
from maxcode.sandbox.sandbox import Blob, Sandbox

TEXTS = Path(__file__).with_name("languages")
PRIMES = {"small": (1000, 168), "long": (2_000_000, 148_933)}
FILES = {"rust": "main.rs", "go": "main.go", "java": "Primes.java", "javascript": "main.js"}
# `make test` installs the smallest of the toolchains alone.
SOME = [name if name == "javascript" else pytest.param(name, marks=pytest.mark.toolchains) for name in FILES]


def program(name: str, which: str) -> Program:
    suffix = language(name).suffixes[0]
    return Program({FILES[name]: (TEXTS / name / f"{which}{suffix}").read_text()})


def primes(name: str, folder: Path) -> Problem:
    cases = {}
    for size, (n, count) in PRIMES.items():
        (folder / f"{size}.in").write_text(f"{n}\n")
        (folder / f"{size}.out").write_text(f"{count}\n")
        cases[size] = Case(size, str(folder / f"{size}.in"), str(folder / f"{size}.out"))
    flags = language(name).default_flags
    spec = ProgramSpec(flags=flags, seen=(cases["small"],), held_out=(cases["long"],))
    return Problem(f"primes-{name}", "program", name, program(name, "original"), spec)


@pytest.mark.parametrize("name", SOME)
def test_a_faster_program_wins_and_a_cheat_does_not(
    name: str, sandbox_evaluator: ProgramEvaluator, tmp_path: Path
) -> None:
    problem = primes(name, tmp_path)

    async def judged() -> dict[str, Evaluation]:
        admitted = await sandbox_evaluator.admit(problem)
        assert [given.name for given in admitted.timed] == ["long"]
        texts = {which: Action(program(name, which)) for which in ("honest", "cheat")}
        return {which: await sandbox_evaluator.evaluate(problem, action) for which, action in texts.items()}

    found = anyio.run(judged)
    assert found["honest"].outcome is found["cheat"].outcome is Outcome.CORRECT, found
    assert found["honest"].timing is not None
    assert found["honest"].timing.significant
    assert found["cheat"].timing is not None
    assert not found["cheat"].timing.significant


@pytest.mark.tiers("1", "2")
@pytest.mark.parametrize("name", SOME)
def test_a_program_runs_in_both_tiers_and_nothing_it_writes_stays(
    name: str, sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    problem = primes(name, tmp_path)

    async def twice(which: str) -> list[Ran]:
        built = await Builder(sandbox, sandbox.cache).build(problem, program(name, which))
        assert built.artefact is not None, (built.reason, built.diagnostics)
        with Blob.of(b"1000\n") as given:
            async with session_of(sandbox, problem, [built.artefact, given]) as session:
                job = job_for(problem, built.artefact, Input("small", given, b"168\n", "seen"))
                return [await session.run(job) for _ in range(2)]

    runs = [*anyio.run(twice, "original"), *anyio.run(twice, "cheat")]
    assert [(ran.ending, ran.code, ran.stdout) for ran in runs] == [("exit", 0, b"168\n")] * 4, runs


@pytest.mark.parametrize("name", SOME)
def test_what_does_not_compile_gets_the_message_of_its_compiler(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    problem = primes(name, tmp_path)
    broken = problem.program.with_text(problem.program.text.replace("count", "count (", 1))
    built = anyio.run(Builder(sandbox, sandbox.cache).build, problem, broken)
    assert built.artefact is None
    assert FILES[name] in built.diagnostics
    assert built.reason


@pytest.mark.toolchains
def test_the_profile_of_a_rust_program_names_its_line(sandbox_evaluator: ProgramEvaluator, tmp_path: Path) -> None:
    admitted = anyio.run(sandbox_evaluator.admit, primes("rust", tmp_path))
    top = admitted.baseline.profile[0]
    assert top.line in (5, 6, 9)
    assert top.share > 0.2


@pytest.mark.toolchains
@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("rust", "fn is_prime", 'const LEAK: &str = include_str!("/etc/passwd");\nfn is_prime', "couldn't read"),
        ("go", "package main\n", 'package main\n\nimport "C"\n', "build constraints exclude all Go files"),
    ],
)
def test_a_build_reads_no_file_of_the_host_and_starts_no_other_compiler(
    name: str, before: str, after: str, said: str, sandbox: Sandbox, tmp_path: Path
) -> None:
    problem = primes(name, tmp_path)
    text = problem.program.text.replace(before, after, 1)
    built = anyio.run(Builder(sandbox, sandbox.cache).build, problem, problem.program.with_text(text))
    assert built.artefact is None
    assert said in built.diagnostics


def test_a_missing_toolchain_is_one_sentence_with_the_package_to_install() -> None:
    for name, package in {"rust": "rustc", "go": "golang-go", "java": "default-jdk-headless"}.items():
        without = replace(language(name), tools=("/usr/bin/no-such-compiler",))
        with pytest.raises(MachineError, match=f"{name} need /usr/bin/no-such.*sudo apt-get install {package}"):
            refuse_missing(without)


def test_every_language_names_its_package_and_its_tools() -> None:
    for row in LANGUAGES.values():
        assert row.package, row.name
        assert row.tools, row.name


def test_a_javascript_program_of_two_files_is_refused_with_the_cure(tmp_path: Path) -> None:
    for name in ("main.js", "other.js"):
        (tmp_path / name).write_text("console.log(1);\n")
    (tmp_path / "problem.toml").write_text('sources = ["main.js", "other.js"]\n')
    with pytest.raises(InputError, match="one file here, and this one has 2; join them with a bundler"):
        load(tmp_path)


def test_a_flag_is_one_of_those_of_its_language(tmp_path: Path) -> None:
    (tmp_path / "1.in").write_text("10\n")
    for name, good, bad in (
        ("rust", "-Ctarget-cpu=native", "-Clinker=/bin/sh"),
        ("go", "-gcflags=-B", "-toolexec=/bin/sh"),
        ("java", "--release=17", "-J-javaagent:x.jar"),
    ):
        path = tmp_path / FILES[name]
        path.write_text(program(name, "original").text)
        assert load(path, tmp_path, {"flags": [good]}).problem.spec.flags == (good,)
        with pytest.raises(InputError, match=f"the flag '{bad}' is not allowed"):
            load(path, tmp_path, {"flags": [bad]})
    path = tmp_path / FILES["javascript"]
    path.write_text(program("javascript", "original").text)
    with pytest.raises(InputError, match="programs in javascript are not compiled"):
        load(path, tmp_path, {"flags": ["--max-old-space-size=1"]})
