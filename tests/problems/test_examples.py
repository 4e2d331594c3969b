"""The examples are problems that can be worked on: they load, pass their own tests, and run long enough to be timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from maxcode.evaluate.harness import open_harness
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.problems import load

EXAMPLES = sorted(path.parent for path in Path(__file__).parents[2].joinpath("examples").glob("*/problem.toml"))
PROGRAMS = [folder for folder in EXAMPLES if load(folder).problem.kind == "program"]
OF_PROGRAMS = pytest.mark.parametrize("folder", PROGRAMS, ids=lambda folder: folder.name)
BY_NAME = pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
COMMITTED_AT_MOST = 1_500_000


def generated(folder: Path, *arguments: str) -> bytes:
    command = [sys.executable, "-I", str(folder / "gen.py"), *arguments]
    return subprocess.run(command, capture_output=True, check=True).stdout


def admitted(folder: Path) -> Admitted:
    async def admit() -> Admitted:
        problem = load(folder).problem
        return await (await open_harness(problem)).admit(problem)

    return anyio.run(admit)


def test_there_are_examples_in_three_languages_and_they_stay_small() -> None:
    assert len(EXAMPLES) >= 9
    assert {load(folder).problem.language for folder in EXAMPLES} == {"c", "cpp", "python"}
    files = [path for folder in EXAMPLES for path in folder.rglob("*") if "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files if path.is_file()) < COMMITTED_AT_MOST


@OF_PROGRAMS
def test_an_example_says_what_it_does_and_has_seen_held_out_and_generated_tests(folder: Path) -> None:
    loaded = load(folder)
    assert loaded.notes == ()
    assert loaded.problem.statement
    assert loaded.problem.program.text.startswith(("// ", "/* ", "# "))
    spec = loaded.problem.spec
    assert len(spec.seen) >= 2
    assert len(spec.held_out) >= 2
    assert spec.generated == 4


@OF_PROGRAMS
def test_an_example_s_generator_depends_on_the_seed_alone(folder: Path) -> None:
    assert generated(folder, "3") == generated(folder, "3") != generated(folder, "4")
    assert generated(folder, "3", "3") != generated(folder, "3")


# Each takes 3 to 30 s, and is like another one.
LONG = {"trsm", "gemm_threads", "stencil", "threemm", "correlation", "delivery", "phonebook", "jobs"}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "folder",
    [pytest.param(one, marks=[pytest.mark.slow] if one.name in LONG else [], id=one.name) for one in EXAMPLES],
)
def test_an_example_passes_its_own_tests_and_can_be_timed_on_unseen_inputs(folder: Path) -> None:
    found = admitted(folder)
    assert found.dropped == ()
    assert found.timed
    assert not any(one.seen for one in found.timed)
