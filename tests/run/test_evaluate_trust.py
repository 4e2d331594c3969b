"""`maxcode evaluate` says of a candidate what its certificate would say, and scripts can act on it."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from maxcode.cli.fail_on import status_of
from maxcode.core.stats import RaceRule
from maxcode.evaluate.harness_protocol import FreshRace
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.run.certificate.unseen import PAIRS, timed_on
from maxcode.run.evaluation import evaluate_source
from maxcode.run.request import Request
from maxcode.sandbox.sandbox import Sandbox
from tests.support.cli import answer, maxcode, maxcode_here
from tests.support.counting import LOOP, QUARTER, SLOW
from tests.support.small_gemm import GEMM, small

pytestmark = pytest.mark.sandbox

SIZES = (160_000_003, 162_310_007, 165_500_041, 168_120_013, 171_777_779)  # all sizes between are long enough
KNOWN = " || ".join(f"n == {n}" for n in SIZES)
# It works for a while where it knows the answer: the seconds of a mere start are too noisy to be without a doubt.
BRIEF = LOOP.replace("i < n;", "i < n / 24;")
STORED = SLOW.replace(LOOP, f'if ({KNOWN}) {{ {BRIEF} printf("%ld\\n", n * (n - 1) / 2); return 0; }}\n    {LOOP}')
TWICE = SLOW.replace(LOOP, f"{LOOP}\n    sum = 0;\n    {LOOP}")

SOMETIMES = QUARTER.replace("#include <stdio.h>", "#include <stdio.h>\n#include <unistd.h>").replace(
    "int main(void) {",
    "int main(void) {\n    unsigned char drawn = 0;\n    if (getentropy(&drawn, 1) != 0) return 1;\n"
    "    if (drawn < 20)\n        for (volatile long wait = 0; wait < 400000000L; wait++) {}",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A slow program with its tests; a candidate that stores all answers, a faster, a slower and a wrong one."""
    folder = tmp_path_factory.mktemp("place")
    texts = {"slow": SLOW, "stored": STORED, "quarter": QUARTER, "twice": TWICE, "sometimes": SOMETIMES}
    texts["wrong"] = SLOW.replace("+= i", "-= i")
    for name, text in texts.items():
        (folder / f"{name}.c").write_text(text)
    (folder / "tests").mkdir()
    for number, n in enumerate(SIZES):
        (folder / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


def request(place: Path) -> Request:
    return Request(place / "slow.c", place / "tests")


def test_a_candidate_that_stores_the_answers_of_all_tests_is_not_trusted(place: Path) -> None:
    assert BRIEF != LOOP
    found = evaluate_source(place / "stored.c", request(place))
    assert found.speedup is not None and found.speedup.confirmed and found.speedup.low > 5
    (line,) = [line for line in str(found).splitlines() if line.startswith("speed-up")]
    assert f"{found.speedup} NOT TRUSTED: " in line and "newly generated input" in line
    told = json.loads(found.as_json())
    assert (told["trusted"], len(told["doubts"])) == (False, 1)
    assert "it may be fast only on what was given" in told["doubts"][0]
    assert told["unseen"] == told["fresh_inputs"] and told["unseen"]["high"] < 2
    kinds = told["recheck"]["kinds"]
    assert sum(int(kind.split()[0]) for kind in kinds) == told["recheck"]["inputs"]
    assert all("changed from the given ones" in kind for kind in kinds)
    assert (status_of(found, ()), status_of(found, ("doubt",)), status_of(found, ("not-faster",))) == (0, 1, 0)


@pytest.mark.slow
def test_a_gain_of_most_runs_that_all_runs_together_do_not_have_is_not_trusted(place: Path) -> None:
    assert "getentropy" in SOMETIMES and "drawn < 20" in SOMETIMES
    found = evaluate_source(place / "sometimes.c", request(place))
    told = json.loads(found.as_json())
    assert not told["trusted"]
    assert not found.confirmed or any("by the sum of their seconds" in doubt for doubt in told["doubts"]), told


@pytest.mark.slow
def test_a_gain_that_holds_on_other_inputs_is_trusted(place: Path) -> None:
    done = maxcode("evaluate", "quarter.c", "--against", "slow.c", "--tests", "tests", "--json", "--fail-on",
                   "wrong,slower,not-faster,doubt,uncompared", cwd=place)  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["trusted"], told["doubts"], told["speedup"]["slower"]) == (True, [], False)
    assert told["unseen"]["low"] > 1.5 and told["unseen"]["inputs"] >= 1


@pytest.mark.slow
def test_a_slower_candidate_gets_a_real_interval_and_ends_a_script(place: Path) -> None:
    command = ("evaluate", "twice.c", "--against", "slow.c", "--tests", "tests", "--json", "--fail-on")
    done = maxcode(*command, "slower", cwd=place)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    speedup = told["speedup"]
    assert speedup["slower"] and not speedup["significant"] and not told["trusted"]
    assert speedup["pairs"] >= RaceRule().confirm_least and speedup["confidence"] == 0.95 and speedup["high"] < 1
    assert told["why"].startswith("not faster: it is slower than the original")


@pytest.mark.slow
def test_a_tie_is_decided_only_where_a_script_asks_whether_it_is_slower(place: Path) -> None:
    same = evaluate_source(place / "slow.c", request(place), decides_slower=True)
    assert same.speedup is not None and same.confirmed and same.speedup.pairs >= RaceRule().confirm_least
    assert (status_of(same, ("wrong", "doubt")), status_of(same, ("not-faster",))) == (0, 1)


@pytest.mark.parametrize(("words", "status"), [((), 0), (("--fail-on", "wrong"), 1), (("--fail-on", "slower"), 0)])
def test_a_wrong_candidate_ends_with_status_0_unless_it_is_asked_for(
    place: Path, words: tuple[str, ...], status: int
) -> None:
    assert (
        maxcode_here("evaluate", "wrong.c", "--against", "slow.c", "--tests", "tests", *words, cwd=place).returncode
        == status
    )


def test_a_word_that_fail_on_does_not_know_is_refused(place: Path) -> None:
    done = maxcode_here(
        "evaluate", "slow.c", "--against", "slow.c", "--tests", "tests", "--fail-on", "wronk", cwd=place
    )
    assert done.returncode == 2 and "did you mean 'wrong'" in done.stderr
    done = maxcode_here("optimize", "slow.c", "--tests", "tests", "--fail-on", "slower", cwd=place)
    assert done.returncode == 2 and "--fail-on slower is not for `optimize`" in done.stderr


def test_a_candidate_into_a_run_folder_has_its_own_verdict_and_record(place: Path) -> None:
    """The verdict is that of the candidate, not that of a search that found nothing."""
    mine = place / "mine.c"
    mine.write_text((place / "wrong.c").read_text())
    command = ("evaluate", "mine.c", "--against", "slow.c", "--tests", "tests", "--out", "mine", "--json")
    told = answer(maxcode_here(*command, cwd=place))
    assert (told["outcome"], told["speedup"], told["outcomes"]) == ("wrong", None, {"wrong": 1})
    assert (place / "mine" / "report.html").is_file() and (place / "mine" / "events.jsonl").is_file()
    assert json.loads((place / "mine" / "result.json").read_text()) == told
    mine.write_text(SLOW)
    again = maxcode_here(*command, cwd=place)
    assert again.returncode == 2 and "the candidate is another program now" in again.stderr


@pytest.mark.slow
def test_a_faster_candidate_into_a_run_folder_is_certified_and_verified_from_anywhere(
    place: Path, tmp_path: Path
) -> None:
    command = ("evaluate", "quarter.c", "--against", "slow.c", "--tests", "tests", "--out", "proof")
    done = maxcode(*command, "--fail-on", "not-faster,doubt", cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "repeat it  maxcode verify proof/certificate.json" in done.stdout
    assert "candidates 1: 1 correct" in done.stdout
    folder = place / "proof"
    assert (folder / "best" / "slow.c").read_text() == QUARTER
    assert "sum += 4 * i + 6" in (folder / "best.diff").read_text()
    printed = f"maxcode verify {folder.resolve()}/certificate.json"
    assert printed in (folder / "report.html").read_text()
    assert maxcode(*printed.split()[1:], cwd=tmp_path).returncode == 0


def test_folders_of_several_files_are_compared(tmp_path: Path) -> None:
    for name, step in (("old", "+= i"), ("new", "-= i")):
        (tmp_path / name / "tests").mkdir(parents=True)
        loop = LOOP.replace("sum += i", "ADD(sum, i)")
        (tmp_path / name / "main.c").write_text('#include "add.h"\n' + SLOW.replace(LOOP, loop))
        (tmp_path / name / "add.h").write_text(f"#define ADD(sum, i) sum {step}\n")
        (tmp_path / name / "problem.toml").write_text('sources = ["main.c", "add.h"]\n')
        for number, n in enumerate((10, 20, 30, 40)):
            (tmp_path / name / "tests" / f"{number:02}.in").write_text(f"{n}\n")
            (tmp_path / name / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    for candidate in ("new", "new/problem.toml"):
        assert (
            answer(maxcode_here("evaluate", candidate, "--against", "old", "--json", cwd=tmp_path))["outcome"]
            == "wrong"
        )
    (tmp_path / "new" / "add.h").unlink()
    done = maxcode_here("evaluate", "new", "--against", "old", cwd=tmp_path)
    assert done.returncode == 2 and "add.h" in done.stderr


def test_a_function_lacks_no_other_inputs(sandbox: Sandbox, builder: Builder) -> None:
    evaluator = ProgramEvaluator(sandbox, builder)

    async def raced() -> FreshRace:
        admitted = await evaluator.admit(small(GEMM))
        return await evaluator.race_fresh(admitted.problem, admitted.problem.program, PAIRS)

    found = timed_on(anyio.run(raced))
    assert not found.is_missing
    assert str(found).startswith("no other inputs are needed: every timed pass had newly drawn values")
