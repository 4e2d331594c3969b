"""`optimize_program` and `evaluate_program`, as a script, a coroutine and a notebook call them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import maxcode
from maxcode.core.types import Outcome
from maxcode.errors import InputError
from maxcode.run.keyword_options import RequestOptions
from maxcode.run.python_api import _NAMED
from maxcode.run.request import Request
from tests.support.counting import FAST, SLOW
from tests.support.run_0_1 import run_of_0_1
from tests.support.selection import some

RESUMED = """
def work():
    return maxcode.optimize_program(
        "slow.cpp", tests="tests", budget=3, method="best-of-n", out="finished", progress=SHOWN
    )
"""
TOLD = """
print(json.dumps({
    "told": str(result), "html": result._repr_html_(), "speedup": result.speedup.value, "low": result.speedup.low,
    "confirmed": result.speedup.confirmed, "outcome": result.outcome.value, "program": result.best_program.text,
    "best": str(result.best), "report": str(result.report), "notes": result.notes,
}))
"""
STARTS = {
    "script": "result = work()",
    "coroutine": "async def main(): return work()\nresult = asyncio.run(main())",
}


def test_every_field_of_a_request_is_a_keyword() -> None:
    rarer = {name for name in get_type_hints(RequestOptions) if not name.startswith("max_")}
    assert rarer | {*_NAMED, "source"} - {"progress"} == {one.name for one in fields(Request)}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return run_of_0_1(tmp_path)


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "fast.c").write_text(FAST)
    (tmp_path / "wrong.c").write_text(FAST.replace("n - 1", "n - 2"))
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((8, 12, 16, 20)):
        (tmp_path / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return tmp_path


def run(place: Path, code: str) -> tuple[dict[str, Any], str]:
    """What a script prints, as JSON, and what it says on stderr."""
    code = f"import asyncio, json, maxcode\n{code}"
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found, done.stderr


@pytest.mark.heavy
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("shown", some([True, None], 1))
@pytest.mark.sandbox
def test_a_run_is_made_and_its_result_is_read(start: str, shown: bool | None, place: Path) -> None:
    found, said = run(place, RESUMED.replace("SHOWN", str(shown)) + STARTS[start] + TOLD)
    assert found["confirmed"]
    assert 1 < found["low"] <= found["speedup"]
    assert found["outcome"] == "correct"
    assert found["best"] == "finished/best/slow.cpp"
    assert found["program"] == (place / found["best"]).read_text()
    assert (place / found["report"]).read_text().startswith("<!DOCTYPE html>")
    assert "speed-up   1.65x [1.63, 1.72]" in found["told"]
    assert "1.65x [1.63, 1.72]" in found["html"] and "report.html" in found["html"]
    assert ("3/3 candidates" in said) is bool(shown)  # without a terminal only where it is asked for


@pytest.mark.sandbox
def test_a_wrong_program_has_no_speed_up_but_a_reason(numbers: Path) -> None:
    found = maxcode.evaluate_program(str(numbers / "wrong.c"), against=numbers / "slow.c", tests=str(numbers / "tests"))
    assert (found.outcome, found.speedup) == (Outcome.WRONG, None)
    assert found.why
    assert found.reasons
    assert str(found).startswith("outcome    wrong\n")


@pytest.mark.sandbox
def test_a_program_is_evaluated_inside_a_running_loop(numbers: Path) -> None:
    async def main() -> maxcode.CandidateResult:
        return maxcode.evaluate_program(numbers / "fast.c", against=numbers / "slow.c", tests=numbers / "tests")

    found = asyncio.run(main())
    assert found.outcome is Outcome.CORRECT
    assert found.speedup is None  # the tests are too short to be timed
    assert found.why is not None and "not measurable" in found.why


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"certifcate": False}, "unknown option 'certifcate'; did you mean 'certificate'?"),
        ({"budgte": 3}, "did you mean 'budget'?"),
        ({"budget": "many"}, "many"),
        ({"max_second": 3}, "did you mean 'max_seconds'?"),
        ({"max_seconds": "60"}, "max_seconds is '60', of the type str; give a number, e.g. 0.5"),
        ({"max_calls": True}, "max_calls is True, of the type bool; give a whole number"),
        ({"max_dollars": -1}, "the cap on dollars is -1; give a number from 0 up"),
        (
            {"caps": {"seconds": 60}},
            "of the type dict; give max_calls, max_tokens, max_dollars, max_seconds as keywords",
        ),
        ({"caps": maxcode.Caps(seconds=1), "max_calls": 1}, "max_calls and caps limit the same"),
        ({"budget": "2-minutes", "max_seconds": 60}, "--budget is of seconds, and --max-seconds is given too"),
        ({"without": "best"}, 'give a tuple of strings, e.g. without=("NAME",)'),
        ({"answer": "all"}, "answer is 'all', of the type str; give 'whole' or "),
        ({"replay": 3}, "replay is 3, of the type int; give a path"),
    ],
)
def test_an_option_with_a_wrong_name_or_type_is_refused_with_the_cure(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as found:
        maxcode.optimize_program("slow.c", **options)
    assert words in str(found.value)


def test_a_source_that_is_not_there_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"slow\.c"):
        maxcode.optimize_program(str(tmp_path / "slow.c"), tests=str(tmp_path), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(maxcode.__all__) <= 25
    assert all(getattr(maxcode, name) is not None for name in maxcode.__all__)
    with pytest.raises(AttributeError, match="'nothing'"):
        maxcode.nothing  # noqa: B018


@pytest.mark.heavy
def test_importing_maxcode_does_not_import_all_of_it() -> None:
    code = "import sys, maxcode; print('maxcode.run.job' in sys.modules, maxcode.RunResult.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "RunResult"]
