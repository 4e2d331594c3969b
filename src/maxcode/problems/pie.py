"""The suite ``pie``: Performance-Improving Code Edits (arXiv 2302.07867), whose data the user brings.

    pie:test   pie:test/p02587   pie:test/p02587/s0123-s0456   pie:test/p02587/s0123   pie:test/17

``$MAXCODE_PIE`` is a folder with SPLIT.jsonl (train, val, test, or any other) and the tests in
FOLDER/PROBLEM_ID/input.K.txt and output.K.txt; FOLDER is ``tests``, or as PIE's archives are called.  A number is a
line of the file, for short input only: the problem is recorded under its name (``pie_rows.py``).

As in PIE: the build is with g++ -O3 -std=c++17, and the tests that the row names are checked and timed.  Unlike PIE:
our own checker decides, which compares all output and numbers within 1e-6; the verdict of PIE's checker is recorded as
well.  Time is measured on this machine, not simulated.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from maxcode.core.types import Case, Program
from maxcode.errors import InputError, unknown
from maxcode.problems.cases import natural
from maxcode.problems.pie_rows import LANGUAGES, Entry, entries
from maxcode.problems.suite import Given, LeftOut, Listing, Origin, Source, folder_of, sha256

PIE = "pie"
PREFIX = PIE + ":"
VARIABLE = "MAXCODE_PIE"
TESTS = ("tests", "merged_test_cases", "public_test_cases", "generated_test_cases")
FLAGS = ("-O3", "-std=c++17")
_FILES = {"cpp": "slow.cpp", "c": "slow.c", "python": "slow.py"}
_SHOWN = 5
_SIDES = ("input", "output")
_HOW = (
    f"get the splits and the merged test cases from https://github.com/LearningOpt/pie (its README links them) and set "
    f"{VARIABLE} to a folder with train.jsonl, val.jsonl, test.jsonl, and the tests in "
    "tests/PROBLEM_ID/input.K.txt and output.K.txt"
)


@final
class Pie:
    def listing(self, words: str) -> Listing:
        """The rows of a split, of one of its problems, or of one slow program, in the order of the file."""
        place = _place()
        split, found = _asked(place, words)
        tests = _Tests(place)
        troubles = [(entry, entry.trouble or tests.missing(entry)) for entry in found]
        return Listing(
            tuple(Source(Path(f"{PREFIX}{split}/{entry.name}")) for entry, why in troubles if not why),
            tuple(LeftOut(f"{PREFIX}{split}/{entry.name}", entry.where, why) for entry, why in troubles if why),
        )

    def given(self, words: str) -> Given:
        """The row of that name."""
        place = _place()
        split, found = _asked(place, words)
        usable = [entry for entry in found if not entry.trouble]
        if not usable:
            raise InputError(f"{PREFIX}{words} cannot be used ({found[0].where}): {found[0].trouble}")
        if len(usable) > 1:
            names = ", ".join(entry.name for entry in usable[:_SHOWN])
            raise InputError(f"{PREFIX}{words} stands for {len(usable)} problems; name one of them: {names}, ...")
        return _given(place, split, usable[0])


def _given(place: Path, split: str, entry: Entry) -> Given:
    row = entry.row()
    cases, lost = _Tests(place).of(entry)
    if not cases:
        raise InputError(f"{PREFIX}{split}/{entry.name} ({entry.where}) cannot be used: {lost}")
    language = LANGUAGES[row.language]
    file = _FILES[language]
    table = {
        "source": file,
        "language": language,
        **({"flags": list(FLAGS)} if language == "cpp" else {}),
        "checker": {"kind": "float", "abs_tol": 1e-6, "rel_tol": 1e-6},
        "checker_beside": PIE,
    }
    said = {"split": split, "problem": row.problem_id, "slow": row.ids[0], "fast": row.ids[1]}
    facts = {key: value for key, value in said.items() if value}
    name = f"{PIE}-{split}-{entry.name.replace('/', '-')}"
    origin = Origin(PIE, f"{split}/{entry.name}", name, sha256(row.slow), facts)
    reference = Program({file: row.fast}) if row.fast.strip() else None
    return Given(origin, table, Program({file: row.slow}), cases, reference=reference, notes=(lost,) if lost else ())


# ------------------------------------------------------------------------------------------------------------- names


def _asked(place: Path, words: str) -> tuple[str, list[Entry]]:
    """The split, and the rows that the words name; InputError if there are none."""
    split, _, rest = words.partition("/")
    file = place / f"{split}.jsonl"
    splits = sorted(path.stem for path in place.glob("*.jsonl"))
    if not splits:
        raise InputError(f"{place} has no file SPLIT.jsonl; {_HOW}")
    if split not in splits:
        raise unknown(f"split of PIE in {place}:", split, splits)
    rows = entries(file)
    found = [entry for entry in rows if _stands_for(rest, entry)]
    if not found:
        near = difflib.get_close_matches(rest, [entry.name for entry in rows], n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise InputError(f"{file} has no row '{rest}'{hint}; `maxcode problems list {PREFIX}{split}` lists them all")
    return split, found


def _stands_for(words: str, entry: Entry) -> bool:
    if not words:
        return True
    if words.isdecimal():
        return entry.at[0] == int(words)
    problem, _, rest = entry.name.partition("/")
    return words in (entry.name, problem, f"{problem}/{rest.partition('-')[0]}")


def _place() -> Path:
    return folder_of(VARIABLE, "PIE", _HOW)


# ------------------------------------------------------------------------------------------------------------- tests


@final
@dataclass(frozen=True, slots=True)
class _Tests:
    """The tests on disk; the folder of a problem is listed once for all of its rows."""

    place: Path
    known: dict[Path, frozenset[str]] = field(default_factory=dict)

    def missing(self, entry: Entry) -> str:
        """Why a row has no tests to run; empty if it has."""
        files = self._files(self._top() / entry.problem)
        if any(all(f"{side}.{one}.txt" in files for side in _SIDES) for one in entry.timed or ()):
            return ""  # one test is enough, and cheap: a split can have 78,000 rows of 100 tests
        whole, lost = self._numbers(entry)
        return "" if whole else lost

    def of(self, entry: Entry) -> tuple[tuple[Case, ...], str]:
        """The tests that the row names, or all of its problem; and a note on those that are missing."""
        whole, lost = self._numbers(entry)
        folder = (self._top() / entry.problem).resolve()
        return tuple(Case(one, *(str(folder / f"{side}.{one}.txt") for side in _SIDES)) for one in whole), lost

    def _numbers(self, entry: Entry) -> tuple[list[str], str]:
        folder = self._top() / entry.problem
        files = self._files(folder)
        numbers = sorted(_numbers(files), key=natural) if entry.timed is None else list(dict.fromkeys(entry.timed))
        if not numbers:
            return [], f"there are no tests {folder}/input.K.txt" if entry.timed is None else "it names no tests"
        there = {one for one in numbers if all(f"{side}.{one}.txt" in files for side in _SIDES)}
        lost = [one for one in numbers if one not in there]
        return [one for one in numbers if one in there], _lost(lost, len(numbers), folder)

    def _top(self) -> Path:
        """The folder of all tests: the first of the usual ones."""
        found = next((self.place / name for name in TESTS if (self.place / name).is_dir()), None)
        if found is None:
            raise InputError(f"{self.place} has no folder of tests ({', '.join(TESTS)}); {_HOW}")
        return found

    def _files(self, folder: Path) -> frozenset[str]:
        if folder not in self.known:
            self.known[folder] = frozenset(os.listdir(folder)) if folder.is_dir() else frozenset()
        return self.known[folder]


def _numbers(files: frozenset[str]) -> set[str]:
    """The tests that have an input or an output."""
    words = (name.split(".") for name in files)
    return {parts[1] for parts in words if len(parts) == 3 and parts[0] in _SIDES and parts[2] == "txt"}


def _lost(lost: Sequence[str], total: int, folder: Path) -> str:
    if not lost:
        return ""
    names = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
    return f"{len(lost)} of its {total} tests have no input or no output in {folder}: {names}"
