"""Whole Python programs run by the interpreter of a virtual environment of the user's, with its packages."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Outcome, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.program.admission import Admissions
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.run.certificate import kept_options
from maxcode.sandbox.sandbox import Sandbox
from tests.support.cli import maxcode, request_of
from tests.support.python_help import ENVIRONMENT

VERSION = "{}.{}.{}".format(*sys.version_info)
TELLS = """import sys
import msgspec

sys.stdin.read()
print("{}.{}.{}".format(*sys.version_info), msgspec.__name__)
"""


def problem_in(folder: Path, venv: str, source: str = TELLS, answer: str = f"{VERSION} msgspec") -> Problem:
    (folder / "slow.py").write_text(source)
    (folder / "tests").mkdir(exist_ok=True)
    for name in ("1", "2", "3"):
        (folder / "tests" / f"{name}.in").write_text(f"{name}\n")
        (folder / "tests" / f"{name}.out").write_text(f"{answer}\n")
    return load(folder / "slow.py", folder / "tests", {"python": {"venv": venv}} if venv else {}).problem


@pytest.mark.sandbox
def test_original_and_candidate_run_by_the_interpreter_with_its_packages(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    problem = problem_in(tmp_path, ENVIRONMENT)
    admitted = anyio.run(Admissions(sandbox, builder, 0, prompts=False).admit, problem)
    assert len(admitted.inputs) == 3 and not admitted.dropped

    async def judged(text: str) -> Verified:
        built = await builder.build(problem, Program({"slow.py": text}))
        assert built.artefact is not None, built.diagnostics
        return await verify(sandbox, problem, built.artefact, admitted.inputs)

    assert anyio.run(judged, TELLS.replace("sys.stdin.read()\n", "")).outcome is Outcome.CORRECT
    assert anyio.run(judged, "print(1)\n").outcome is Outcome.WRONG
    several = Program({"slow.py": "import other\n", "other.py": TELLS})
    built = anyio.run(builder.build, problem, several)
    assert built.artefact is not None
    assert anyio.run(verify, sandbox, problem, built.artefact, admitted.inputs).outcome is Outcome.CORRECT
    told = f"Python {VERSION} of the virtual environment {Path(ENVIRONMENT).name}"
    evaluator = ProgramEvaluator(sandbox, builder)
    assert evaluator.provenance(admitted, describe("tier 1")).compiler == told, "the certificate names it"
    assert anyio.run(builder.compiler, problem) == told


@pytest.mark.sandbox
def test_a_package_that_is_missing_names_the_option_or_the_environment(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    admissions = Admissions(sandbox, builder, 0, prompts=False)
    absent = TELLS.replace("msgspec", "no_such_package")
    with pytest.raises(InputError, match=r"give a virtual environment that has no_such_package \(--venv DIR\)"):
        anyio.run(admissions.admit, problem_in(tmp_path, "", absent))
    with pytest.raises(InputError, match=f"the virtual environment {ENVIRONMENT} has no no_such_package: install it"):
        anyio.run(admissions.admit, problem_in(tmp_path, ENVIRONMENT, absent))


@pytest.mark.sandbox
def test_an_interpreter_that_does_not_start_is_told_with_its_cure(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    venv, base = tmp_path / "dead", tmp_path / "base" / "bin"
    (venv / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    base.mkdir(parents=True)
    (base / "python3").write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    (base / "python3").chmod(0o755)
    (venv / "bin").mkdir()
    (venv / "bin" / "python3").symlink_to(base / "python3")
    (venv / "pyvenv.cfg").write_text(f"home = {base}\nversion = 3.11.0\n")
    with pytest.raises(InputError) as refused:
        anyio.run(Admissions(sandbox, builder, 0).admit, problem_in(tmp_path, str(venv)))
    assert str(refused.value) == (
        f"the interpreter of {venv} does not start in the sandbox (it is broken): make the virtual environment anew "
        f"with a Python of this machine, `python3 -m venv --clear {venv}`"
    )


@pytest.mark.sandbox
def test_a_tier_that_cannot_show_the_environment_says_which_can(tmp_path: Path) -> None:
    problem_in(tmp_path, "")
    words = ("evaluate", "slow.py", "--against", "slow.py", "--tests", "tests", "--venv", ENVIRONMENT)
    ran = maxcode(*words, cwd=tmp_path, MAXCODE_SANDBOX="2")
    assert ran.returncode == 3 and "needs tier 1 of the sandbox, bubblewrap" in ran.stderr, ran.stderr


def test_what_is_no_environment_of_python_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere is no virtual environment .*; make one with `python3 -m venv"):
        problem_in(tmp_path, "nowhere")
    (tmp_path / "slow.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(InputError, match=r"a virtual environment .* is for Python, not for c"):
        load(tmp_path / "slow.c", tmp_path / "tests", {"python": {"venv": ENVIRONMENT}})
    with pytest.raises(InputError, match="a whole program has only venv"):
        load(tmp_path / "slow.py", tmp_path / "tests", {"python": {"venv": ENVIRONMENT, "function": "f"}})


def test_problem_toml_and_the_option_name_the_same_folder(tmp_path: Path) -> None:
    given = request_of("slow.py", "--tests", "tests", "--venv", ENVIRONMENT).overrides
    assert given["python"] == {"venv": str(Path(ENVIRONMENT).absolute())}
    problem_in(tmp_path, "")
    (tmp_path / "env").symlink_to(ENVIRONMENT)
    (tmp_path / "problem.toml").write_text('source = "slow.py"\n[python]\nvenv = "env"\n')
    assert load(tmp_path).problem.spec.venv == str(tmp_path / "env")
    assert load(tmp_path, None, given).problem.spec.venv == str(Path(ENVIRONMENT).absolute())


def test_a_certificate_keeps_no_folder_of_an_environment() -> None:
    given = request_of("slow.py", "--tests", "tests", "--venv", ENVIRONMENT, "--goal", "wall").overrides
    assert kept_options(given) == {"goal": "wall"}
    assert kept_options({"python": {"venv": ENVIRONMENT, "size": 9}}) == {"python": {"size": 9}}
