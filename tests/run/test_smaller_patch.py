"""What does not pay is left out of a patch: hunks, groups, and pairs, by a table in place of races."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.code.hunks import hunks_of, without
from maxcode.code.linked_hunks import linked, of_files
from maxcode.code.source import normalise
from maxcode.core.files import TEXT_AT_MOST
from maxcode.core.types import Evaluation, Interval, Outcome, Problem, Program, ProgramSpec, State, StateId, Timing
from maxcode.evaluate.harness_protocol import Loss, SearchHarness
from maxcode.run.smaller_patch import BEST, FILE, SmallerPatch, in_best, not_measured, smaller_patch

LINES = [f"line {number}\n" for number in range(60)]
BASE = {"a.py": "".join(LINES[:40]), "b.py": "".join(LINES[40:])}


class Table:
    """A harness that knows which lines pay, and which must come together."""

    def __init__(self, useful: Sequence[str], together: tuple[str, str] = ("", "")) -> None:
        self.useful, self.together = set(useful), together
        self.asked = 0

    async def loss(self, problem: Problem, whole: Program, less: Program) -> Loss:
        self.asked += 1
        one, other = "".join(whole.files.values()), "".join(less.files.values())
        first, second = self.together
        if first and (first in other) != (second in other):
            return Loss("needed", "it does not build")
        lost = {line for line in self.useful if line in one and line not in other}
        return Loss("slower", ratio=Interval(0.9, 0.8, 0.95)) if lost else Loss("no change", ratio=Interval(1, 1, 1))

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        timing = Timing("cpu", Interval(2, 2, 2), True, "faster", 15, confirmed=True)
        return {state.id: Evaluation(Outcome.CORRECT, timing=timing) for state in challengers}


def patch_of(changes: dict[int, str]) -> Program:
    lines = [changes.get(number, line) for number, line in enumerate(LINES)]
    return Program({"a.py": "".join(lines[:40]), "b.py": "".join(lines[40:])})


def smaller(table: Table, winner: Program, folder: Path) -> SmallerPatch:
    problem = Problem("p", "repo", "python", Program(BASE), ProgramSpec())
    return anyio.run(smaller_patch, cast(SearchHarness, table), problem, winner, folder, lambda words: None)


def test_useless_hunks_are_left_out_and_no_useful_one_is_lost(tmp_path: Path) -> None:
    useful = {5: "useful 5\n", 20: "useful 20\n", 50: "useful 50\n"}
    useless = {number: f"useless {number}\n" for number in (0, 7, 12, 24, 30, 38, 44, 52, 58, 59)}
    table = Table(list(useful.values()))
    found = smaller(table, patch_of({**useful, **useless}), tmp_path)
    text = "".join(found.program.files.values())
    assert all(line in text for line in useful.values())
    assert "useless" not in text
    assert len(found.dropped) == 9 and found.kept == 3  # two neighbours are one change
    assert found.evaluation is not None and "were left out" in next(found.notes())
    assert "that stay: 3, each tried alone: without 3 it is proved slower" in list(found.notes())[1]


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    winner = patch_of({5: "useful\n", 20: "useless\n", 50: "useless too\n"})
    first, second = Table(["useful\n"]), Table(["useful\n"])
    one = smaller(first, winner, tmp_path)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"whole": "torn')
    assert smaller(second, winner, tmp_path) == one
    assert first.asked > 0 == second.asked


def test_a_smaller_patch_is_known_beside_what_others_left_in_best(tmp_path: Path) -> None:
    whole, original = patch_of({5: "useful\n", 20: "useless\n", 50: "useful too\n"}), Program(BASE)
    found = smaller(Table(["useful\n", "useful too\n"]), whole, tmp_path)
    (tmp_path / BEST / "__pycache__").mkdir(parents=True)
    with (tmp_path / BEST / "__pycache__/a.pyc").open("wb") as file:
        file.truncate(TEXT_AT_MOST + 1)
    for path, text in found.program.files.items():
        (tmp_path / BEST / path).write_text(text)
    assert in_best(tmp_path, original, whole) == (found.program, found.evaluation)
    assert not_measured(tmp_path, original, whole, "late") == SmallerPatch(found.program, found.evaluation)
    (tmp_path / BEST / "a.py").write_text(whole.files["a.py"])
    assert not_measured(tmp_path, original, whole, "late") == SmallerPatch(whole, late="late")


def test_two_hunks_that_need_one_another_go_together(tmp_path: Path) -> None:
    table = Table(["useful\n"], ("declares\n", "uses\n"))
    winner = patch_of({3: "declares\n", 10: "useful\n", 30: "uses\n"})
    found = smaller(table, winner, tmp_path)
    assert found.program == patch_of({10: "useful\n"})


def test_a_useless_helper_and_its_only_call_in_another_file_go_together(tmp_path: Path) -> None:
    helper, call = "def shortened(word):\n", "word = shortened(word)\n"
    useful = {number: f"useful{number}\n" for number in (0, 8, 16, 24, 32, 44, 52)}
    table = Table(list(useful.values()), (helper, call))
    found = smaller(table, patch_of({**useful, 4: helper, 48: call}), tmp_path)
    assert found.program == patch_of(useful)
    assert table.asked <= 20, "one for each hunk, one for the group, two for the files, the pairs, the whole"


def test_a_helper_is_tried_again_once_its_call_is_gone(tmp_path: Path) -> None:
    class Needed(Table):
        async def loss(self, problem: Problem, whole: Program, less: Program) -> Loss:
            text = "".join(less.files.values())
            if "= shortened(word)" in text and "def shortened" not in text:
                return Loss("needed", "NameError: name 'shortened' is not defined")
            return await super().loss(problem, whole, less)

    useful = {20: "useful\n"}
    table = Needed(["useful\n"])
    winner = patch_of({**useful, 4: "def shortened(word):\n", 30: "word = shortened(word)\n"})
    assert smaller(table, winner, tmp_path).program == patch_of(useful)


def test_hunks_are_linked_by_the_names_that_the_patch_adds() -> None:
    before = {"a.py": "word = 1\n\n\n\n\n\nlast = 1\n", "b.py": "other = 2\n"}
    after = {
        "a.py": "word = 1  # quicker\n\n\nfresh = word\n\n\nlast = fresh\n",
        "b.py": "other = fresh  # quicker\n",
        "c.py": "word = 3\n",
    }
    every = hunks_of(before, after)
    found = linked(before, after, every, lambda path, text: normalise("python", text))
    named = [{str(hunk) for hunk in group} for group in found]
    assert named == [{"a.py:4", "a.py:7", "b.py:1"}]
    assert [{str(hunk) for hunk in group} for group in of_files(every)] == [{"a.py:1", "a.py:4", "a.py:7"}]


def test_a_patch_of_one_change_is_not_touched(tmp_path: Path) -> None:
    table = Table([])
    winner = patch_of({3: "one\n"})
    assert smaller(table, winner, tmp_path).program == winner
    assert table.asked == 0


def test_a_comment_beside_a_change_that_stays_stays(tmp_path: Path) -> None:
    before = {"a.py": "x = 1\n\ny = 2\nz = 3\n"}
    after = Program({"a.py": "x = 1\n# why\n\ny = 2\nz = 4\n"})
    problem = Problem("p", "repo", "python", Program(before), ProgramSpec())
    table = Table(["z = 4\n"])
    found = anyio.run(smaller_patch, cast(SearchHarness, table), problem, after, tmp_path, lambda words: None)
    assert found.program == after


GUARDED = """int first(const char *text, int size, int at) {
    if (at < size && text[at] == '[')
        return 1;
    return 0;
}

int last(int x) {
    return x;
}
"""
UNGUARDED = """int first(const char *text, int size, int at) {
    if (at >= size)
        return 0;
    switch (text[at]) {
    case '[':
        return 1;
    }
    return 0;
}

int last(int x) {
    return x * 1;
}
"""


def of_c(before: str, after: str, table: Table, folder: Path) -> SmallerPatch:
    problem = Problem("p", "repo", "c", Program({"a.c": before}), ProgramSpec())
    return anyio.run(
        smaller_patch, cast(SearchHarness, table), problem, Program({"a.c": after}), folder, lambda words: None
    )


def test_what_was_changed_in_one_function_stays_together(tmp_path: Path) -> None:
    found = of_c(GUARDED, UNGUARDED, Table(["    switch (text[at]) {\n"]), tmp_path)
    text = found.program.files["a.c"]
    assert "if (at >= size)" in text, "no test reads beyond the text, so it is as fast without the check"
    assert "at < size" not in text and "x * 1" not in text
    assert len(found.dropped) == 1


def test_what_was_changed_in_one_function_of_a_header_or_of_another_language_stays_together(tmp_path: Path) -> None:
    for number, (path, language) in enumerate((("a.hpp", "cpp"), ("a.c", "python"))):
        problem = Problem("p", "repo", language, Program({path: GUARDED, "main.py": "x = 1\n"}), ProgramSpec())
        folder, table = tmp_path / str(number), Table(["    switch (text[at]) {\n"])
        folder.mkdir()
        whole = Program({path: UNGUARDED, "main.py": "x = 1\n"})
        found = anyio.run(smaller_patch, cast(SearchHarness, table), problem, whole, folder, lambda words: None)
        text = found.program.files[path]
        assert "if (at >= size)" in text and "at < size" not in text and "x * 1" not in text


def test_what_was_changed_in_one_macro_stays_together(tmp_path: Path) -> None:
    before = (
        "#define ADVANCE(at, end) \\\n    for (;; ++at) { \\\n        if (at == end) \\\n            return -1; \\\n"
        "        if (*at == ' ') \\\n            break; \\\n    }\n"
    )
    after = before.replace("for (;; ++at)", "at = find(at, end); \\\n    while (1)").replace(
        "break; \\\n", "break; \\\n        ++at; \\\n"
    )
    table = Table(["    at = find(at, end); \\\n"])
    found = of_c(
        f"{before}\n\n{GUARDED}", f"{after}\n\n{GUARDED.replace('return x;', 'return x * 1;')}", table, tmp_path
    )
    assert found.program.files["a.c"] == f"{after}\n\n{GUARDED}"


def test_where_small_losses_add_up_the_first_half_of_them_is_left_out(tmp_path: Path) -> None:
    class Adding(Table):
        """A table in which three lines together pay."""

        async def loss(self, problem: Problem, whole: Program, less: Program) -> Loss:
            one, other = ("".join(program.files.values()).count("useless") for program in (whole, less))
            if one - other > 2:
                return Loss("slower", ratio=Interval(0.96, 0.95, 0.97))
            return await super().loss(problem, whole, less)

    changes = {5: "useful\n", **{number: f"useless {number}\n" for number in (20, 30, 45, 55)}}
    found = smaller(Adding(["useful\n"]), patch_of(changes), tmp_path)
    text = "".join(found.program.files.values())
    assert (text.count("useless"), len(found.dropped), found.kept) == (2, 2, 3) and "useful\n" in text


def test_lines_that_are_gone_do_not_come_back_by_themselves(tmp_path: Path) -> None:
    old = "int unused(int x) {\n    return x;\n}\n\n\n\n\n"
    table = Table(["    return x * 1;\n"])
    after = GUARDED.replace("return x;", "return x * 1;")
    assert of_c(old + GUARDED, after, table, tmp_path).program.files["a.c"] == after
    assert table.asked == 1, "the change of `last` alone"


TEXT = st.lists(st.sampled_from(["a\n", "b\n", "c", "\n", "\r\n", "d\x0c\n"]), max_size=12).map("".join)


@given(TEXT, TEXT, TEXT)
@settings(max_examples=200)
def test_a_patch_without_all_hunks_is_base_and_without_none_itself(one: str, other: str, new: str) -> None:
    before, after = {"a": one, "b": "same\n"}, {"a": other, "b": "same\n", "c": new}
    every = hunks_of(before, after)
    assert without(before, after, ()) == after
    assert without(before, after, every) == before


@pytest.mark.parametrize("verdict", ["needed", "slower"])
def test_what_pays_is_not_free(verdict: str) -> None:
    assert not Loss(verdict, ratio=Interval(0.99, 0.9, 1.1)).is_free  # type: ignore[arg-type]
    assert Loss("undecided", ratio=Interval(0.99, 0.9, 1.1)).is_free
    assert not Loss("undecided", ratio=Interval(0.97, 0.9, 1.1)).is_free
