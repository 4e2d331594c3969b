"""The gallery: every candidate says what must become of it, and a few of every kind are judged here.

``benchmarks/redteam.py`` judges all of them by the full rules (`make redteam`); ``-m slow`` does the same here.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import anyio
import pytest

import redteam
from maxcode.core.types import Evaluation, Outcome
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Sandbox
from trust.host import MARK, Host

ROOT = Path(__file__).parents[2]

ALL = redteam.candidates()
NAMES = [one.name for one in ALL]
# Of each way to cheat one or two about which no race and no time-out decides: a second each at most.
FEW = {
    "run-time": ("answers_from_disk", "leave_a_child_to_work", "read_process_1", "threads_left", "kill_its_own_group"),
    "compile-time": ("constructor_answers", "incbin_tests", "own_start"),
    "resource": ("sparse_output", "too_large_to_load"),
    "timer": ("interval_timers", "output_by_a_hidden_child"),
    "cache": ("note_in_pidfd_numbers", "winner_with_pipe_numbers"),
    "output": ("seen_answers", "closed_output", "no_break_space", "nan_everywhere", "narrow_counter",
               "right_until_timed", "status_after_answer", "unwritten_block"),
    "function": ("beyond_the_output", "changed_inputs", "kept_by_pointer", "leaves_in_the_middle", "loaded_library"),
}  # fmt: skip
QUICK = [name for names in FEW.values() for name in names]
HONEST = "count_formula"
RACED = {"baseline", "honest"}  # kinds that only a race can decide about


def test_the_gallery_is_as_large_as_it_says() -> None:
    cheats = [one for one in ALL if not one.is_honest]
    assert len(cheats) >= 60
    assert sum(bool(one.tampers) for one in cheats) >= 15
    assert sum(one.is_honest for one in ALL) >= 12
    assert {one.kind for one in ALL} == set(redteam.KINDS)


def test_the_few_are_of_every_kind_that_needs_no_race() -> None:
    kinds = {one.name: one.kind for one in ALL}
    assert {kind: tuple(name for name in QUICK if kinds[name] == kind) for kind in FEW} == FEW
    assert {*FEW, *RACED} == set(redteam.KINDS)


def test_every_name_is_used_once_and_every_tampered_candidate_names_an_accepted_winner() -> None:
    assert len(set(NAMES)) == len(NAMES)
    winners = {one.name for one in ALL if one.is_honest}
    assert {one.tampers for one in ALL if one.tampers} <= winners


def test_the_honest_must_be_accepted_and_no_cheat_may_be() -> None:
    for one in ALL:
        assert (one.verdicts == ("faster",)) == one.is_honest, one.path
        assert one.is_honest or "faster" not in (*one.verdicts, *one.in_tier_2), one.path
        assert one.why.endswith("."), one.path


def test_a_header_that_is_not_whole_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "cheat.c"
    path.write_text("// VERDICT wrong\n// WHY It does nothing.\n// HACK 36\n// AGAINST count\n")
    with pytest.raises(ValueError, match="lacks KIND"):
        redteam.read_candidate(path)
    path.write_text(path.read_text() + "// KIND outputs\n")
    with pytest.raises(ValueError, match="'outputs' is none of"):
        redteam.read_candidate(path)
    path.write_text(path.read_text().replace("outputs", "output").replace("AGAINST count", "AGAINST nothing"))
    with pytest.raises(ValueError, match="no original 'nothing'"):
        redteam.read_candidate(path)


Turn = Callable[[int], AbstractContextManager[None]]
Table = Callable[[str], redteam.Row]


@pytest.fixture(scope="module")
def turn(tmp_path_factory: pytest.TempPathFactory) -> Turn:
    """The host is one for all workers: what is left on it on purpose, another's look must not find."""
    path = tmp_path_factory.getbasetemp().parent / "host.lock"

    @contextmanager
    def taken(how: int) -> Iterator[None]:
        with path.open("w") as file:
            fcntl.flock(file, how)
            yield

    return taken


def test_what_a_candidate_leaves_on_the_host_is_found(sandbox: Sandbox, turn: Turn) -> None:
    left = Path("/tmp", f"{MARK}-test")
    host = Host(sandbox)
    with turn(fcntl.LOCK_EX):
        before = host.look()
        assert host.changes(before) == []
        left.touch()
        try:
            assert host.changes(before) == [f"files and POSIX segments: new {left}"]
        finally:
            left.unlink()


def test_a_secret_in_any_word_that_goes_back_is_noticed() -> None:
    found = Evaluation(Outcome.UNBUILT)
    assert not redteam.is_told(found, "secret-1")
    told = Evaluation(Outcome.UNBUILT, type(found.feedback)(diagnostics="x.h:1: error: #error secret-1"))
    assert redteam.is_told(told, "secret-1")


@pytest.fixture(scope="module")
def table(sandbox: Sandbox, builder: Builder, turn: Turn, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Judges a candidate by the full rules: name -> its row."""
    secret = tmp_path_factory.mktemp("secret") / "secret.h"
    secret.write_text("#error secret-of-the-tests\n")
    judge, host = redteam.Judge(ProgramEvaluator(sandbox, builder), secret), Host(sandbox)
    by_name = {one.name: one for one in ALL}

    def row(name: str) -> redteam.Row:
        with turn(fcntl.LOCK_SH):
            return anyio.run(redteam.row_of, judge, host, by_name[name], "secret-of-the-tests")

    return row


@pytest.mark.parametrize("name", QUICK)
def test_a_cheat_that_needs_no_race_gets_its_verdict_and_leaves_nothing(name: str, table: Table) -> None:
    row = table(name)
    assert row.surprises == (), row


def test_an_honest_winner_is_accepted(table: Table) -> None:
    row = table(HONEST)
    assert row.verdict == "faster", row


@pytest.mark.slow  # minutes of races, and the bombs
@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*QUICK, HONEST)])
def test_a_candidate_gets_its_verdict_and_leaves_nothing(name: str, table: Table) -> None:
    row = table(name)
    assert row.surprises == (), row


def test_every_row_of_the_table_of_attacks_names_tests_that_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "trust.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and not line.startswith("| attack")]
    held = {
        path.stem for folder in ROOT.glob("tests/evaluate/gallery*") for path in folder.rglob("*") if path.is_file()
    }
    held |= {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    defended = [row for row in rows if row.count("|") == 4 and "`" in row.split("|")[3]]
    assert len(defended) >= 35
    for row in defended:
        for name in re.findall(r"`([a-z0-9_]+(?:\.py)?)`", row.split("|")[3]):
            assert name in held, f"{name} of the row {row[:60]}"
