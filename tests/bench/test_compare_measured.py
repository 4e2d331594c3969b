"""``maxcode compare --measure`` races two winners in the sandbox, whatever their runs have recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from click.testing import CliRunner

from maxcode.cli import cli
from maxcode.core.types import Action, Evaluation, Outcome, Program
from maxcode.errors import InputError
from maxcode.problems import digest, load
from maxcode.run.record import Batch, Evaluated, Proposed, Record, Settled
from maxcode.testing import exact_timing
from tests.support.counting import SLOW

LOOP = 'for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }'
HALF = SLOW.replace(LOOP, LOOP.replace("i++", "i += 2").replace("sum += i", "sum += i + (i + 1 < n ? i + 1 : 0)"))
THIRD = SLOW.replace(LOOP, LOOP.replace("i++", "i += 3").replace("sum += i", "sum += 3 * i + 3"))
assert len({SLOW, HALF, THIRD}) == 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "problem.toml").write_text('source = "slow.c"\n')
    (folder / "slow.c").write_text(SLOW)
    (folder / "tests").mkdir()
    for number, n in enumerate((9, 999, 219_999_999, 240_000_000)):  # all of them multiples of 3
        (folder / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return folder


def won(place: Path, name: str, text: str, claimed: float) -> str:
    """A run folder that claims so much for a program."""
    problem = load(place).problem
    folder = place / name
    (folder / "original").mkdir(parents=True)
    (folder / "original" / "slow.c").write_text(SLOW)
    header = {"problem": problem.id, "source": str(place), "flags": list(problem.spec.flags), "goal": "cpu"}
    (folder / "run.toml").write_text(tomli_w.dumps({**header, "digest": digest(problem), "version": name}))
    with Record(folder) as record:
        record.append(Batch(batch=1, parents=((0, 0),)))
        record.append(Proposed(at=(1, 0), action=Action(Program({"slow.c": text}))))
        record.append(Evaluated(at=(1, 0), evaluation=Evaluation(Outcome.CORRECT, timing=exact_timing(claimed))))
        record.append(Settled(batch=1))
    return str(folder)


def compared(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["compare", *arguments, "--measure", "--json"], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
def test_the_faster_winner_is_found_although_the_records_say_the_opposite(place: Path) -> None:
    half, third = won(place, "half", HALF, 3.0), won(place, "third", THIRD, 2.0)
    found = compared(half, third)
    assert found["verdict"] == "second"
    assert found["ratio"]["high"] < 1
    assert "bubblewrap" in found["sandbox"] or "Landlock" in found["sandbox"]
    assert compared(third, half)["verdict"] == "first"


@pytest.mark.slow
def test_two_spellings_of_one_program_do_not_differ_significantly(place: Path) -> None:
    one = won(place, "one", HALF, 2.0)
    other = won(place, "other", HALF.replace("long n, sum = 0;", "long sum = 0, n;"), 2.1)
    found = compared(one, other)
    assert found["verdict"] == "not significant"
    assert found["ratio"]["low"] < 1.02 and found["ratio"]["high"] > 0.98


def test_a_problem_that_has_changed_since_is_refused(place: Path) -> None:
    one, other = won(place, "before", HALF, 2.0), won(place, "after", THIRD, 2.1)
    header = (Path(one) / "run.toml").read_text()
    for run in (one, other):
        (Path(run) / "run.toml").write_text(header.replace(digest(load(place).problem), "another"))
    with pytest.raises(InputError, match="the digests differ"):
        compared(one, other)
