"""What a certificate claims is measured anew, follows from its samples, and can be repeated or refuted elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import tomli_w
from click.testing import CliRunner, Result

from maxcode.cli import cli
from maxcode.core.stats import RaceRule, median_interval
from maxcode.core.types import Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.harness_protocol import HarnessTerms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.problems import load
from maxcode.run.certificate import read
from maxcode.run.certificate.claim import Certificate
from maxcode.run.certificate.making import AdmittedWinner, measured
from maxcode.run.job import optimize_source
from maxcode.run.result import RunResult
from maxcode.sandbox.sandbox import Sandbox
from tests.support.cli import request_of
from tests.support.counting import QUARTER, SLOW
from tests.support.finished import COMMAND, FinishedRun

pytestmark = pytest.mark.sandbox

LONG_INPUTS = 3  # a seed whose fresh inputs are mostly long enough to be timed
# A seed whose fresh inputs are all numbers up to 1,002, for which no machine needs long; some of the further ones are
# between the two largest tests, and take as long as those.
SHORT_INPUTS = 211
LONG_S = 0.02
FLAKY = QUARTER.replace("#include <stdio.h>", "#include <stdio.h>\n#include <sys/random.h>").replace(
    "    printf", "    unsigned char drawn;\n    if (getrandom(&drawn, 1, 0) != 1 || drawn < 26) sum++;\n    printf"
)


@pytest.fixture
def certify_shortly(sandbox: Sandbox, builder: Builder) -> Callable[..., Certificate]:
    """A certificate of (a place, a winner, a seed), with the fewest pairs that a certificate may have."""

    async def certified(problem: Problem, winner: Program, seed: int) -> Certificate:
        rule = RaceRule(confirm_most=RaceRule().confirm_least)
        evaluator = ProgramEvaluator(sandbox, builder, rule, HarnessTerms(seed))
        admitted = await evaluator.admit(problem)
        work = AdmittedWinner(evaluator, problem, admitted, winner, time.monotonic())
        return await measured(work, work.certificate({}, None), lambda words: None)

    def run(place: Path, winner: str, seed: int = LONG_INPUTS) -> Certificate:
        problem = load(place / "slow.c", place / "tests").problem
        return anyio.run(certified, problem, Program({"slow.c": winner}), seed)

    return run


def verify(place: Path, *more: str) -> Result:
    command = ["verify", str(place / "run" / "certificate.json"), "--problem", str(place / "slow.c"), "--tests"]
    return CliRunner().invoke(cli, [*command, str(place / "tests"), *more], standalone_mode=False)


def refusal(place: Path) -> str:
    """Why `maxcode verify` refuses, without a run; the error is the one that becomes exit status 2."""
    found = verify(place)
    assert isinstance(found.exception, InputError), found.output
    assert found.exception.exit_code == 2
    return str(found.exception)


def edited(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = place / "run" / "certificate.json"
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def test_a_true_winner_is_certified_in_a_new_session(finished: FinishedRun) -> None:
    path = finished.folder / "certificate.json"
    found = read(path)
    assert finished.told["certificate"] == str(path)
    assert (found.holds, found.refused) == (True, "")
    assert found.timing is not None and found.control is not None and found.verification is not None
    assert found.timing.speedup == median_interval([a / b for a, b in found.timing.samples])
    assert len(found.control.samples) == found.timing.pairs
    assert found.trusted is (found.control.interval.low <= 1 <= found.control.interval.high)
    assert (found.verification.runs, found.verification.failed) == (10, 0)
    assert found.sanitized is not None
    assert (found.sanitized.checks, found.sanitized.defects) == (("address", "undefined"), ())
    assert set(found.sanitized.inputs) == {one.name for one in found.tests if one.origin == "seen"}
    assert found.origins == {"seen": 4, "held_out": 4, "generated": 0}
    made = found.made_inputs
    assert len(made.inputs) >= 4
    assert sum(int(way.partition(":")[0]) for way in made.how) == len(made.inputs)
    assert {one.origin for one in made.inputs} == {"made"}
    assert found.compiler.startswith("gcc")
    assert str(finished.place) not in path.read_text()


def test_a_true_winner_is_as_fast_on_inputs_that_nobody_was_shown(finished: FinishedRun) -> None:
    found = read(finished.folder / "certificate.json")
    assert found.unseen is not None and found.unseen.interval is not None, found.unseen
    assert found.unseen.interval == median_interval([a / b for a, b in found.unseen.samples])
    assert set(found.unseen.inputs) <= {one.name for one in found.made_inputs.inputs}
    assert found.warnings == ()
    told = finished.told["unseen"]
    assert (told["low"], told["told"]) == (found.unseen.interval.low, str(found.unseen))


@pytest.mark.slow
def test_an_input_raced_because_no_other_is_long_enough_is_among_those_told(
    finished: FinishedRun, certify_shortly: Callable[..., Certificate]
) -> None:
    found = certify_shortly(finished.place, QUARTER, SHORT_INPUTS)
    made = found.made_inputs
    assert found.unseen is not None and found.unseen.interval is not None, found.unseen
    assert {name.partition("-")[0] for name in found.unseen.inputs} == {"extra"}
    assert set(found.unseen.inputs) <= {one.name for one in made.inputs}
    assert sum(int(way.partition(":")[0]) for way in made.how) == len(made.inputs)


@pytest.mark.slow
def test_a_repetition_races_the_further_inputs_of_the_certificate(
    finished: FinishedRun, sandbox: Sandbox, builder: Builder
) -> None:
    """Although inputs that come first are long enough here: on the day of the certificate they were not."""
    problem = load(finished.place / "slow.c", finished.place / "tests").problem

    async def raced(before: frozenset[str] = frozenset()) -> tuple[set[str], dict[str, str]]:
        evaluator = ProgramEvaluator(sandbox, builder, terms=HarnessTerms(LONG_INPUTS, before))
        admitted = await evaluator.admit(problem)
        check = await evaluator.check(admitted.problem, Program({"slow.c": QUARTER}))
        found = await check.race_fresh(1)
        made = {one.stdin.sha256 for one in (await evaluator.made(admitted.problem)).inputs}
        further = (await evaluator.made(admitted.problem, harsh=True)).inputs
        digests = {one.name: one.stdin.sha256 for one in further if one.seconds >= LONG_S}
        return set(found.inputs), {name: digest for name, digest in digests.items() if digest not in made}

    first, further = anyio.run(raced)
    assert {name.partition("-")[0] for name in first} == {"made"}
    name, digest = next(iter(further.items()))
    again, _ = anyio.run(raced, frozenset({digest}))
    assert again == {name}


@pytest.mark.slow
def test_a_winner_that_is_fast_only_on_what_was_given_is_told_apart(
    finished: FinishedRun, certify_shortly: Callable[..., Certificate]
) -> None:
    """It knows the answers to the two inputs that are long enough, and works for all others as the original does."""
    known = '    if (n == 220000000 || n == 224000000) { printf("%ld\\n", n * (n - 1) / 2); return 0; }\n    for ('
    found = certify_shortly(finished.place, SLOW.replace("    for (", known))
    assert found.harsher is not None and found.harsher.passed, found.refused
    assert found.timing is not None and found.unseen is not None and found.unseen.interval is not None
    assert found.timing.speedup.low > 10
    assert found.unseen.interval.high < 2
    (told,) = [words for words in (*found.doubts, *found.warnings) if "fast only on what was given" in words]
    assert str(found.unseen.interval) in told
    assert found.trusted is (not found.doubts)


def resumed(place: Path, *more: str) -> RunResult:
    """The finished run, taken up again in a copy of its folder, which is the working folder."""
    return optimize_source(request_of(*COMMAND[1:], "--out", str(place / "run"), *more))


def test_a_resume_keeps_the_certificate_that_is_about_the_winner(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    path = copied / "run" / "certificate.json"
    before = path.read_bytes()
    again = resumed(copied)
    assert again.certificate == path
    assert path.read_bytes() == before


def test_a_run_can_do_without_a_certificate(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    out = copied / "run"
    (out / "certificate.json").unlink()
    found = resumed(copied, "--no-certificate")
    assert (found.confirmed, found.certificate) == (True, None)
    assert not (out / "certificate.json").exists()
    assert json.loads((out / "result.json").read_text()) == json.loads(found.as_json())


def test_it_holds_again_on_the_same_machine_from_any_folder(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run folder keeps the original and names the tests, so its path is enough; the source may change."""
    (copied / "slow.c").write_text("what the user does with it afterwards")
    monkeypatch.chdir(tmp_path)
    words = ["verify", str(copied / "run" / "certificate.json"), "--json"]
    found = CliRunner().invoke(cli, words, standalone_mode=False)
    assert found.return_value == 0, found.output
    told = json.loads(found.stdout)
    assert told["holds"] is True
    made, again = (told[side]["made_inputs"]["inputs"] for side in ("certificate", "here"))
    assert [one for one in again if one in made] == made  # all of them, and others that had time
    assert told["elsewhere"] == []
    assert told["told"].startswith("holds here: ")
    assert told["here"]["made"] >= told["certificate"]["made"]
    assert told["here"]["timing"]["samples"] != told["certificate"]["timing"]["samples"]


def claimed_for(place: Path, text: str) -> None:
    """Put another winner under the certificate, as a liar would."""
    (place / "run" / "best" / "slow.c").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    edited(place, lambda found: found["subject"]["winner"].update({"slow.c": digest}))


def test_a_winner_that_is_not_right_here_ends_with_status_1(copied: Path) -> None:
    claimed_for(copied, SLOW.replace("sum += i", "sum -= i"))
    found = verify(copied)
    assert found.return_value == 1, found.output
    assert "does not hold here: its answers are not right in 10 of 10 runs" in found.stdout


@pytest.mark.slow
def test_a_winner_that_is_not_faster_here_ends_with_status_1(copied: Path) -> None:
    claimed_for(copied, SLOW.replace("long n,", "/* the same program */ long n,"))
    found = verify(copied)
    assert found.return_value == 1, found.output
    told = re.match(r"does not hold here: ([0-9.]+)x \[([0-9.]+), ([0-9.]+)\]", found.stdout)
    assert told is not None, found.stdout
    value, low, high = map(float, told.groups())
    assert 0.9 < value < 1.1  # a little below 1 as often as above it: equal programs on a machine with other work
    assert low < 1.05 and high > 0.95
    assert "the two intervals do not overlap" in found.stdout


def test_another_winner_is_refused(copied: Path) -> None:
    with (copied / "run" / "best" / "slow.c").open("a") as file:
        file.write("\n")
    assert "the winner file slow.c is another one" in refusal(copied)


def test_other_tests_are_refused_and_each_is_named(copied: Path) -> None:
    (copied / "tests" / "00.in").write_text("4\n")
    (copied / "tests" / "03.out").write_text("499500 \n")
    (copied / "tests" / "08.in").write_text("5\n")
    (copied / "tests" / "08.out").write_text("10\n")
    told = refusal(copied)
    assert "00 (held_out), input is another one" in told or "00 (seen), input is another one" in told
    assert "expected answer is another one" in told
    assert "test 08" in told and "is here, not in the certificate" in told


def test_another_original_is_refused(copied: Path) -> None:
    (copied / "slow.c").write_text(SLOW.replace("long i", "int i"))
    assert "the original file slow.c is another one" in refusal(copied)


def test_other_flags_are_refused(copied: Path) -> None:
    edited(copied, lambda found: found["subject"].update(flags=["-O0"]))
    assert 'flags is ["-O0"] in the certificate, ["-std=gnu17","-O3"] here' in refusal(copied)


def test_a_test_that_comes_to_be_another_one_is_refused_before_anything_is_timed(copied: Path) -> None:
    made = {"name": "generated-1", "origin": "generated", "input": "0" * 64, "expected": "0" * 64, "timed": False}
    edited(copied, lambda found: (found["tests"].append(made), found["origins"].update(generated=1)))
    assert "the test generated-1 is in the certificate, not here" in refusal(copied)


def faster_samples(found: dict[str, Any]) -> None:
    found["timing"]["samples"] = [[3 * a, b] for a, b in found["timing"]["samples"]]


def faster_interval(found: dict[str, Any]) -> None:
    found["timing"]["speedup"]["value"] *= 1.01


def fewer_pairs(found: dict[str, Any]) -> None:
    found["timing"]["samples"] = found["timing"]["samples"][:5]


def impossible_times(found: dict[str, Any]) -> None:
    found["timing"]["samples"][0][1] = 0.0


def another_control(found: dict[str, Any]) -> None:
    found["control"]["samples"] = [[2 * a, b] for a, b in found["control"]["samples"]]


def no_control(found: dict[str, Any]) -> None:
    """Of a certificate that nothing was doubtful in: one control in twenty misses 1 by chance."""
    found["control"] = None
    found["doubts"], found["trusted"] = [], True


def as_fast_elsewhere(found: dict[str, Any]) -> None:
    found["unseen"]["interval"]["value"] *= 1.01


def a_harsher_verification_that_failed(found: dict[str, Any]) -> None:
    found["harsher"] = {"triggers": ["12.0 times faster"], "inputs": 32, "passed": False, "why": ""}


def elsewhere_left_out(found: dict[str, Any]) -> None:
    """What turns the certificate of a stored table into a trusted one: no sample is touched."""
    found["unseen"], found["doubts"], found["trusted"] = None, [], True


def fewer_runs(found: dict[str, Any]) -> None:
    found["verification"]["runs"] = 3


def a_finding_left_out(found: dict[str, Any]) -> None:
    found["doubts"] = ["a sanitizer found something"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (faster_samples, "its samples give"),
        (faster_interval, "but its samples give"),
        (fewer_pairs, "5 usable samples"),
        (impossible_times, "usable samples"),
        (lambda found: found["timing"].update(sittings=[1, 1]), "the certificate claims sessions of [1, 1] pairs"),
        (
            lambda found: found["timing"].update(sittings=[0, found["timing"]["pairs"]]),
            "the certificate claims sessions of [0, ",
        ),
        (another_control, "its samples give something else"),
        (lambda found: found["timing"]["elapsed"].update(value=0.5, low=0.4, high=0.6), "longer by the wall clock"),
        (no_control, "`trusted` is said to be True, but False follows"),
        (elsewhere_left_out, "the speed-up on newly generated inputs (`unseen`) is left out"),
        (fewer_runs, "which is less than 10"),
        (as_fast_elsewhere, "on newly generated inputs, but its samples"),
        (a_harsher_verification_that_failed, "FAILED on 32 extra inputs"),
        (a_finding_left_out, "`doubts` is said to be"),
        (lambda found: found.update(holds=False), "`holds` is said to be False"),
        (lambda found: found["origins"].update(held_out=9), "the tests by origin"),
        (lambda found: found["subject"].update(goal="wall"), "timed was cpu time"),
        (lambda found: found["options"].update(sources=["../x.c"]), "only a problem.toml may set (sources)"),
        (lambda found: found["options"].update(checker={"kind": "command", "command": ["x"]}), "a checker that is"),
        (lambda found: found.pop("subject"), "no certificate of maxcode"),
        (lambda found: found.update(format=9), "format 9"),
    ],
)
def test_a_certificate_that_was_changed_is_refused(
    copied: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    edited(copied, change)
    assert words in refusal(copied)


def test_a_source_that_is_not_there_is_asked_for(copied: Path) -> None:
    (copied / "run" / "run.toml").unlink()
    found = CliRunner().invoke(cli, ["verify", str(copied / "run")], standalone_mode=False)
    assert isinstance(found.exception, InputError)
    assert "give it with --problem" in str(found.exception)


def test_an_environment_that_has_moved_is_asked_for_and_used(copied: Path, tmp_path: Path) -> None:
    header = copied / "run" / "run.toml"
    table = tomllib.loads(header.read_text())
    table["given"]["venv"] = "/nowhere/env"
    header.write_text(tomli_w.dumps(table))
    assert "was /nowhere/env, which is not here; give it with --venv DIR" in refusal(copied)
    found = verify(copied, "--venv", str(tmp_path))
    assert "a virtual environment ([python] venv, --venv) is for Python, not for" in str(found.exception)


def test_flaky_answers_refuse_the_certificate(
    finished: FinishedRun, certify_shortly: Callable[..., Certificate]
) -> None:
    found = certify_shortly(finished.place, FLAKY)
    assert (found.holds, found.trusted, found.timing) == (False, False, None)
    assert "not right in" in found.refused or "wrong output" in found.refused
    assert found.notes[0].startswith("NOT CERTIFIED: ")
