"""What a new user meets: an original that fails here is told with its cure, and a wait says what it waits for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from maxcode.core.types import Evaluation, Feedback, Outcome, Problem, Program, ProgramSpec
from maxcode.errors import InputError
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.cures import cure_of_build, cure_of_candidate
from maxcode.evaluate.ladder.prepare import build_original
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.program.admission import Admissions
from maxcode.problems import load
from maxcode.run.display import Display
from maxcode.run.evaluation import Measured
from maxcode.run.given_candidate import read_candidate
from maxcode.run.waits import waits_on
from maxcode.sandbox.lanes import timing_lane
from maxcode.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.sandbox
SPIN = """#include <stdio.h>
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; for (;n > 9;) __asm__ volatile(""); printf("%ld\\n", n); }
"""
RANDOM = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) { srand(time(0)); printf("3.1 %d\\n", rand()); }
"""
DOUBLE = """#include <stdio.h>
int main(void) { long n; if (scanf("%ld", &n) != 1) return 1; printf("%ld\\n", 2 * n); return 0; }
"""


@pytest.fixture
def notes(tmp_path: Path, sandbox: Sandbox, builder: Builder) -> tuple[Path, Admissions]:
    (tmp_path / "tests").mkdir()
    for n in (1, 20):
        (tmp_path / "tests" / f"{n}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{n}.out").write_text(f"{n}\n")
    return tmp_path, Admissions(sandbox, builder, 0)


def admitted(held: tuple[Path, Admissions], name: str, text: str) -> str:
    """The first note of an admission, or why there is none."""
    place, admissions = held
    (place / name).write_text(text)
    problem = load(place / name, place / "tests", {"limits": {"run_s": 1.5}}).problem
    try:
        return anyio.run(admissions.admit, problem).notes[0]
    except InputError as error:
        return str(error)


def test_a_test_that_is_dropped_for_its_time_names_the_limit_and_the_option(notes: tuple[Path, Admissions]) -> None:
    said = admitted(notes, "spin.c", SPIN)
    assert "dropped 1 test(s) the original fails itself: 20 (timeout)" in said
    assert "it ran longer than 1.5 s of CPU, the limit of one run: give --run-limit SECONDS" in said


def test_a_random_original_is_told_with_two_of_its_answers(notes: tuple[Path, Admissions]) -> None:
    said = admitted(notes, "random.c", RANDOM)
    told = said.partition("its answers change from run to run: '")[2].partition("' on the same input")[0]
    one, other = told.split("', then '")
    assert one.isdigit() and other.isdigit() and one != other
    cure = "on the same input (word 2 of the output): fix its seed, and take time and addresses out, or give a checker"
    assert cure in said and said.count("seed") == 1, said
    steady = admitted(notes, "other.c", RANDOM.replace("time(0)", "7"))
    assert "run to run" not in steady and "check that the tests belong to it" in steady


def test_inputs_alone_are_answered_by_the_original_if_it_agrees_with_itself(notes: tuple[Path, Admissions]) -> None:
    place, admissions = notes
    for path in (place / "tests").glob("*.out"):
        path.unlink()
    (place / "double.c").write_text(DOUBLE)
    loaded = load(place / "double.c", place / "tests")
    assert "no expected outputs: those of the original are expected, whatever they are" in loaded.notes[-1]
    found = anyio.run(admissions.admit, loaded.problem)
    assert {given.name: given.expected for given in found.inputs} == {"1": b"2\n", "20": b"40\n"}
    said = admitted(notes, "random.c", RANDOM)
    assert "has no expected output, and the original has none to give: its answers change from run to run" in said


def test_an_output_that_is_missing_among_others_is_made_by_the_original(notes: tuple[Path, Admissions]) -> None:
    place, admissions = notes
    (place / "tests" / "1.out").write_text("2\n")
    (place / "tests" / "20.out").unlink()
    (place / "double.c").write_text(DOUBLE)
    loaded = load(place / "double.c", place / "tests")
    assert "1 of 2 tests (20) in" in loaded.notes[-1]
    found = anyio.run(admissions.admit, loaded.problem)
    assert {given.name: given.expected for given in found.inputs} == {"1": b"2\n", "20": b"40\n"}
    random = DOUBLE.replace("return 1;", "return 1; if (n == 20) n = time(0);")
    said = admitted(notes, "random.c", f"#include <time.h>\n{random}")
    assert "test 20 has no expected output, and the original has none to give" in said


def test_a_missing_python_package_is_told_with_the_python_that_runs(notes: tuple[Path, Admissions]) -> None:
    said = admitted(notes, "sums.py", "import no_such_package.inner\nprint(input())\n")
    assert "the sandbox runs the system's /usr/bin/python3 without your packages" in said
    assert "install no_such_package" in said and "check that the tests belong" not in said


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("#include <omp.h>\nint main(void) { return omp_get_max_threads() > 99; }\n", "add -fopenmp to --flags"),
        ('#include "grid.h"\nint main(void) { return 0; }\n', "the header grid.h is not among its files"),
        ("int other(void);\nint main(void) { return other(); }\n", "if it is yours, give the folder of all sources"),
    ],
)
def test_a_build_that_lacks_a_flag_or_a_file_names_the_option(text: str, cure: str, builder: Builder) -> None:
    problem = Problem("p", "program", "c", Program({"p.c": text}), ProgramSpec(("-O2",)))
    with pytest.raises(InputError) as refused:
        anyio.run(build_original, builder, problem)
    first, _, compiler = str(refused.value).partition("\n")
    assert cure in first and compiler


def test_a_candidate_that_does_not_build_for_want_of_a_source_gets_a_note(notes: tuple[Path, Admissions]) -> None:
    place, admissions = notes
    for number in (1, 20):
        (place / "tests" / f"{number}.out").unlink()
    (place / "double.c").write_text(DOUBLE)
    found = anyio.run(admissions.admit, load(place / "double.c", place / "tests").problem)
    unbuilt = Evaluation(Outcome.UNBUILT, Feedback(("it does not link",), "undefined reference to `shortest'"))
    (note,) = Measured(describe("tier 2"), found, unbuilt).result(()).notes
    assert note.startswith("the candidate does not build, and the original does: nothing defines shortest: if it is ")
    right = Measured(describe("tier 2"), found, found.baseline).result(())
    assert not any("does not build" in one for one in right.notes)


def test_a_candidate_of_one_file_replaces_the_source_of_its_name_and_the_advice_says_so(
    tmp_path: Path, builder: Builder
) -> None:
    sources = {
        "app/main.c": "long f(void);\nint main(void) { return (int)f(); }\n",
        "lib/f.c": "long f(void) { return 0; }\n",
    }
    problem = Problem("p", "program", "c", Program(sources), ProgramSpec(("-O2",)))
    better = "long f(void) { return 0 * 1; }\n"
    for name in ("f.c", "f_new.c"):
        (tmp_path / name).write_text(better)
    named = read_candidate(tmp_path / "f.c", problem)
    assert named.files == {**sources, "lib/f.c": better} and list(named.files) == list(sources)
    other = read_candidate(tmp_path / "f_new.c", problem)
    assert other.files == {**sources, "app/main.c": better}
    built = anyio.run(builder.build, problem, other)
    assert built.artefact is None
    cure = cure_of_candidate(built.diagnostics, problem)
    assert cure == (
        "nothing defines main: a candidate that is one file replaces app/main.c, or another file only if it has that "
        "one's name (such as f.c); else give a folder with all files of the program"
    )


def test_a_fault_of_the_program_itself_gets_no_cure() -> None:
    assert cure_of_build("p.c:1:1: error: expected identifier") == ""


HOLDS = """
import fcntl, sys
with open(sys.argv[1]) as lane:
    fcntl.flock(lane, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_wait_for_another_process_is_told_while_it_lasts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maxcode.run.waits._FIRST_S", 1.0)
    path = tmp_path / "lane.lock"
    path.touch()

    async def wait(other: subprocess.Popen[str]) -> None:
        async def release() -> None:
            while "waiting for" not in (told := told_so_far()):
                await anyio.sleep(0.05)
            assert told.startswith("waiting for another maxcode run on this machine, which is timing: ")
            assert re.search(r" s so far, since \d\d:\d\d:\d\d; only that run knows how long it takes", told), told
            other.communicate("")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(release)
            async with timing_lane(path):
                pass

    said: list[str] = []

    def told_so_far() -> str:
        said.append(capsys.readouterr().err)
        return "".join(said)

    with subprocess.Popen([sys.executable, "-c", HOLDS, path], text=True, stdin=-1, stdout=-1) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with Display() as display, waits_on(display):
            anyio.run(wait, other)
        assert "waited " in told_so_far() and " s for another maxcode run on this machine" in told_so_far()
        with Display() as display, waits_on(display):
            anyio.run(_take_free, path)
    assert told_so_far().count("waiting for") == 1, "a free lane needs no words"


def test_many_waits_are_told_once_a_minute_where_lines_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maxcode.run.waits._FIRST_S", 1.0)
    path = tmp_path / "lane.lock"
    path.touch()

    said: list[str] = []

    async def take_after_a_wait(other: subprocess.Popen[str]) -> None:
        async def release() -> None:
            await anyio.sleep(1.3)
            while "waiting" not in "".join(said):
                said.append(capsys.readouterr().err)
                await anyio.sleep(0.05)
            other.communicate("")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(release)
            await _take_free(path)

    with Display() as display, waits_on(display):
        for _ in range(3):
            with subprocess.Popen([sys.executable, "-c", HOLDS, path], text=True, stdin=-1, stdout=-1) as other:
                assert other.stdout is not None and other.stdout.readline() == "held\n"
                anyio.run(take_after_a_wait, other)
    told = "".join((*said, capsys.readouterr().err)).splitlines()
    assert [line.split()[0] for line in told] == ["waiting", "waited"], told


async def _take_free(path: Path) -> None:
    async with timing_lane(path):
        pass


def test_a_candidate_that_the_limit_of_a_run_stops_names_the_option(notes: tuple[Path, Admissions]) -> None:
    place, admissions = notes
    for path in (place / "tests").glob("*.out"):
        path.unlink()
    long = SPIN.replace("n > 9", "n > 9 && clock() < CLOCKS_PER_SEC / 2")
    (place / "half.c").write_text(f"#include <time.h>\n{long}")
    problem = load(place / "half.c", place / "tests", {"limits": {"run_s": 1.0}}).problem
    admitted = anyio.run(admissions.admit, problem)
    sandbox, builder = admissions._sandbox, admissions._builder

    async def judge() -> Verified:
        built = await builder.build(problem, Program({"half.c": SPIN}))
        assert built.artefact is not None
        return await verify(sandbox, problem, built.artefact, admitted.inputs, every=True)

    told = {one.name: one.detail for one in anyio.run(judge).results}
    assert "(the limit of one run is 1 s of CPU: give --run-limit SECONDS)" in told["20"], told
