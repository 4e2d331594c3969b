"""Useless hunks, planted in the patches of historic commits: does the smaller patch leave out them, and nothing useful?

    python benchmarks/hunks.py --clones FOLDER --venv VENV [NAME ...] [--plant 8] [--seed 0] --json FILE

For each repository of ``repositories.toml`` the winner is what the commit changes in the files to edit, with useless
changes at drawn places of the same files: an unused function or constant, other words in a comment, a renamed variable,
a statement without effect, needless parentheses.  None is near a hunk of the commit, and none in a function that the
commit changes: what was changed in one function is taken out together.  Then the step runs that `maxcode optimize` runs
behind a search, and after it the smaller patch is raced against the whole one once more.

The columns: hunks of the commit; planted changes; how many of these were removed; hunks of the commit left out, and
lost: as many if the interval of the smaller patch against the whole one lies below 1, else 0; the speed-up of both;
the smaller against the whole one; races, and seconds of the step.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio

from maxcode.code.hunks import Hunk, groups_of, hunks_of
from maxcode.code.languages import language_at
from maxcode.code.linked_hunks import units
from maxcode.code.source import lines_of, normalise
from maxcode.core.types import Evaluation, Problem, Program
from maxcode.errors import MaxcodeError
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.run.smaller_patch import FILE, functions_in, smaller_patch
from maxcode.sandbox.selftest import open_safe
from repositories import all_measured, confirmed, parser_of, prepared

Row = dict[str, Any]
Edits = tuple[tuple[int, int, tuple[str, ...]], ...]  # lines, as half-open ranges from 0, and what they become
_TRIES = 30  # draws for each change that is wanted


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--plant", type=int, default=8, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = all_measured(options, measured, line)
    print("\n".join([HEAD, *map(line, rows), *totals(rows)]))


def measured(name: str, entry: Row, options: argparse.Namespace) -> list[Row]:
    """The row of one repository."""
    with tempfile.TemporaryDirectory(prefix="maxcode-hunks-", ignore_cleanup_errors=True) as scratch:
        try:
            problem, commit = prepared(entry, Path(scratch, "repository"), options)
            plants = drawn(problem.program, commit, options.plant, options.seed)
            return [{"name": name, **anyio.run(made_smaller, problem, commit, plants, Path(scratch))}]
        except (MaxcodeError, subprocess.CalledProcessError) as error:
            return [{"name": name, "failed": str(error)}]


async def made_smaller(problem: Problem, commit: Program, plants: Sequence[Plant], folder: Path) -> Row:
    """The commit with what is planted in it, made smaller."""
    evaluator = RepoEvaluator(await open_safe(), keeps=False)
    files, owners = planted(commit, plants)
    whole = Program(files)
    before = await confirmed(evaluator, problem, whole)
    if before.timing is None or not before.timing.confirmed:
        return {
            "failed": f"the patch is not faster: {before.outcome.value}: {'; '.join(before.feedback.reasons)[:300]}"
        }
    began = time.monotonic()
    found = await smaller_patch(evaluator, problem, whole, folder, lambda words: print(words, file=sys.stderr))
    seconds = time.monotonic() - began
    loss = None if found.evaluation is None else await evaluator.loss(problem, whole, found.program)
    every = hunks_of(problem.program.files, files)
    gone = {hunk for hunk in every if f"{hunk.path}:{hunk.before[0] + 1}" in found.dropped}
    of_plants = [{hunk for hunk in every if number in tags(hunk, owners)} for number in range(len(plants))]
    own = {hunk for hunk in every if tags(hunk, owners) <= {None}}
    ratio = None if loss is None or loss.ratio is None else [loss.ratio.value, loss.ratio.low, loss.ratio.high]
    is_slower = loss is not None and (loss.verdict == "needed" or (ratio is not None and ratio[2] < 1))
    return {
        "hunks": len(own),
        "planted": [f"{plant.kind} {plant.path}:{plant.edits[0][0] + 1}" for plant in plants],
        "removed": [hunks <= gone for hunks in of_plants],
        "left_out": sorted(map(str, own & gone)),
        "lost": len(own & gone) if is_slower else 0,
        "before": _speedup(before),
        "after": _speedup(found.evaluation or before),
        "ratio": ratio,
        "races": races(folder / FILE),
        "seconds": seconds,
    }


def races(record: Path) -> int:
    """How many smaller patches were judged beside a larger one."""
    lines = record.read_text().splitlines() if record.exists() else []
    return sum("loss" in told and "evaluation" not in told for told in map(json.loads, lines))


def _speedup(found: Evaluation) -> list[float]:
    timing = found.timing
    return [] if timing is None else [timing.speedup.value, timing.speedup.low, timing.speedup.high]


# ------------------------------------------------------------------------------------------------------------ planting


@dataclass(frozen=True, slots=True)
class Plant:
    """A useless change of a text of the commit."""

    kind: str
    path: str
    edits: Edits


@dataclass(frozen=True, slots=True)
class Place:
    """A text; the lines of its functions, as half-open ranges from 0; a number that makes new names unique."""

    language: str
    lines: list[str]
    functions: list[tuple[int, int]]
    number: int


def drawn(base: Program, commit: Program, count: int, seed: int) -> list[Plant]:
    """Useless changes, each a hunk of its own, in the files that the commit changes; fewer if there are no places."""
    random, found = Random(seed), list[Plant]()
    paths = [path for path, text in commit.files.items() if path in base.files and base.files[path] != text]
    kinds = random.sample(list(KINDS), len(KINDS))
    for turn in range(count * _TRIES if paths else 0):
        kind, path = kinds[turn % len(kinds)], random.choice(paths)
        text = commit.files[path]
        place = Place(language_at(path), lines_of(text), functions_in(path, text), turn)
        if place.language and (edits := list(KINDS[kind](place))):
            plant = Plant(kind, path, random.choice(edits))
            if is_sure(plant, commit) and are_apart(base, commit, [*found, plant]):
                found.append(plant)
        if len(found) == count:
            break
    return found


def planted(commit: Program, plants: Sequence[Plant]) -> tuple[dict[str, str], dict[str, list[int | None]]]:
    """The texts with the changes, and for each of their lines the number of the change that wrote it."""
    texts = {path: lines_of(text) for path, text in commit.files.items()}
    owners = {path: list[int | None]([None] * len(lines)) for path, lines in texts.items()}
    every = [(plant.path, edit, number) for number, plant in enumerate(plants) for edit in plant.edits]
    for path, (first, last, new), number in sorted(every, key=lambda one: one[1][:2], reverse=True):
        texts[path][first:last] = new
        owners[path][first:last] = [number] * len(new)
    return {path: "".join(lines) for path, lines in texts.items()}, owners


def tags(hunk: Hunk, owners: dict[str, list[int | None]]) -> set[int | None]:
    """The changes that wrote lines of a hunk; empty if it only takes lines away."""
    return set(owners[hunk.path][slice(*hunk.after)])


def are_apart(base: Program, commit: Program, plants: Sequence[Plant]) -> bool:
    """Whether nothing planted is near anything else, or in a function that the commit changes."""
    files, owners = planted(commit, plants)
    every = hunks_of(base.files, files)
    seen = set[int | None]().union(*(tags(hunk, owners) for hunk in every))
    own = [hunk for hunk in every if tags(hunk, owners) <= {None}]
    if len(own) != len(hunks_of(base.files, commit.files)) or not seen >= set(range(len(plants))):
        return False
    for group in groups_of(every):
        writers = {frozenset(tags(hunk, owners) - {None}) for hunk in group}
        if len(writers) > 1 or any(len(one) > 1 for one in writers):
            return False
    joined = units(base.files, files, every, functions_in)
    return not any(0 < len(unit & set(own)) < len(unit) for unit in joined)


def is_sure(plant: Plant, commit: Program) -> bool:
    """Whether the program certainly stays the same: in Python by its syntax tree, comments by the tokens."""
    one, other = commit.files[plant.path], planted(commit, [plant])[0][plant.path]
    language = language_at(plant.path)
    if plant.kind == "comment" and language in ("c", "cpp", "python"):
        return normalise(language, one) == normalise(language, other)
    if language != "python":
        return True
    try:
        old, new = ast.parse(one), ast.parse(other)
    except SyntaxError:
        return False
    if plant.kind == "statement":
        return sum(isinstance(node, ast.Pass) for node in ast.walk(new)) > sum(
            isinstance(node, ast.Pass) for node in ast.walk(old)
        )
    return plant.kind != "parentheses" or ast.dump(old) == ast.dump(new)


# --------------------------------------------------------------------------------------------------------------- kinds

_FUNCTION = {
    "python": ("\n", "\n", "def _unused_{0}(value):\n", "    return value + 1\n"),
    "c": ("\n", "int unused_{0}(int value);\n", "int unused_{0}(int value) {{ return value + 1; }}\n"),
    "cpp": ("\n", "inline int unused_{0}(int value) {{ return value + 1; }}\n"),
    "go": ("\n", "func unused{0}(value int) int {{\n", "\treturn value + 1\n", "}}\n"),
    "rust": ("\n", "#[allow(dead_code)]\n", "fn unused_{0}(value: i32) -> i32 {{\n", "    value + 1\n", "}}\n"),
}
_CONSTANT = {
    "python": ("\n", "\n", "_UNUSED_{0} = {0}\n"),
    "c": ("\n", "enum {{ unused_{0} = {0} }};\n"),
    "cpp": ("\n", "enum {{ unused_{0} = {0} }};\n"),
    "go": ("\n", "const unused{0} = {0}\n"),
    "rust": ("\n", "#[allow(dead_code)]\n", "const UNUSED_{0}: i32 = {0};\n"),
}
_STATEMENT = {"python": "pass", "c": "(void)0;", "cpp": "(void)0;", "go": "_ = 0", "rust": "let _ = 0;"}
_COMMENT = re.compile(r"(\s*)(#|//|/\*) (?!type:|noqa|pragma|pylint|fmt:|NOLINT)(\w.*)")
_RETURN = re.compile(r"(\s+return )([^\s({][^\"'`{}]*?)(;?\s*)")
_LOCAL = {
    "python": r"\s+(\w+) = ",
    "c": r"\s+(?:const )?(?:int|size_t|long|double|char|unsigned|u?int\d+_t|char \*|size_t \*)\s*(\w+) = ",
    "go": r"\s+(\w+) := ",
    "rust": r"\s+let (?:mut )?(\w+) = ",
}


def after_functions(words: dict[str, tuple[str, ...]]) -> Callable[[Place], Iterator[Edits]]:
    """New lines behind a function that is in no other block."""

    def places(at: Place) -> Iterator[Edits]:
        new = tuple(text.format(at.number) for text in words.get(at.language, ()))
        for first, last in at.functions if new else ():
            ends = at.lines[last - 1].endswith("\n") and (at.language == "python" or at.lines[last - 1].rstrip() == "}")
            if ends and not at.lines[first][0].isspace():
                yield ((last, last, new),)

    return places


def comments(at: Place) -> Iterator[Edits]:
    """Other words in a comment."""
    for number, text in enumerate(at.lines):
        told = _COMMENT.fullmatch(text.rstrip("\r\n"))
        if told and (told[2] == "#") == (at.language == "python") and (told[2] != "/*" or text.rstrip().endswith("*/")):
            yield ((number, number + 1, (f"{told[1]}{told[2]} Note: {told[3]}\n",)),)


def statements(at: Place) -> Iterator[Edits]:
    """A statement without effect before a `return`, in Rust also before a `let`."""
    starts = ("return", "let ") if at.language == "rust" else ("return",)
    for first, last in at.functions if at.language in _STATEMENT else ():
        for number in range(first + 1, last):
            text, before = at.lines[number], at.lines[number - 1].rstrip()
            is_whole = at.language in ("python", "go") or before.endswith((";", "{", "}"))
            if text.lstrip().startswith(starts) and is_whole:
                indent = text[: len(text) - len(text.lstrip())]
                yield ((number, number, (f"{indent}{_STATEMENT[at.language]}\n",)),)


def parentheses(at: Place) -> Iterator[Edits]:
    """Needless ones around what is returned."""
    if any("decltype(auto)" in text for text in at.lines):
        return
    for first, last in at.functions:
        for number in range(first + 1, last):
            told = _RETURN.fullmatch(at.lines[number])
            if not told or "//" in told[2] or "/*" in told[2] or told[2].count("(") != told[2].count(")"):
                continue
            if (at.language in ("c", "cpp", "rust")) == told[3].startswith(";") and (
                at.language != "go" or ("," not in told[2] and told[2][-1].isalnum())
            ):
                yield ((number, number + 1, (f"{told[1]}({told[2]}){told[3]}",)),)


def renamed(at: Place) -> Iterator[Edits]:
    """Another name of a variable that is named in one function of the file alone, and there in few lines of code."""
    pattern = re.compile(_LOCAL.get("c" if at.language == "cpp" else at.language, r"(?!)()"))
    for first, last in at.functions:
        for number in range(first + 1, last):
            declared = pattern.match(at.lines[number])
            name = re.compile(rf"\b{declared[1]}\b") if declared else None
            naming = [line for line, text in enumerate(at.lines) if name and name.search(text)]
            if not declared or naming[0] != number or naming[-1] >= last or len(naming) > 6:
                continue
            odd = rf"[\"'`#\\]|[.>:&]\s*{declared[1]}\b|\b{declared[1]}(\s*[(:](?!=)|\s*[,}}]|=(?!=))"
            if not any(re.search(odd, at.lines[line]) for line in naming) and name:
                new = f"{declared[1]}_{at.number}"
                yield tuple((line, line + 1, (name.sub(new, at.lines[line]),)) for line in naming)


KINDS: dict[str, Callable[[Place], Iterator[Edits]]] = {
    "function": after_functions(_FUNCTION),
    "constant": after_functions(_CONSTANT),
    "comment": comments,
    "statement": statements,
    "parentheses": parentheses,
    "name": renamed,
}


# --------------------------------------------------------------------------------------------------------------- table

HEAD = (
    f"{'repository':22} {'hunks':>5} {'planted':>7} {'removed':>7} {'left out':>8} {'lost':>4} "
    f"{'speed-up before':22} {'after':22} {'smaller against whole':22} {'races':>5} {'s':>5}"
)


def line(row: Row) -> str:
    if "failed" in row:
        return f"{row['name']:22} not measured: {row['failed']}"
    counts = (
        f"{row['hunks']:5} {len(row['planted']):7} {sum(row['removed']):7} {len(row['left_out']):8} {row['lost']:4}"
    )
    ratios = " ".join(f"{_interval(row[key]):22}" for key in ("before", "after", "ratio"))
    return f"{row['name']:22} {counts} {ratios} {row['races']:5} {row['seconds']:5.0f}"


def _interval(found: list[float] | None) -> str:
    return "{:.3f}x [{:.3f}, {:.3f}]".format(*found) if found else "-"


def totals(rows: Sequence[Row]) -> Iterator[str]:
    """All rows together, then by kind."""
    each = [
        (told, gone)
        for row in rows
        if "planted" in row
        for told, gone in zip(row["planted"], row["removed"], strict=True)
    ]
    yield f"removed: {sum(gone for _, gone in each)} of {len(each)}; lost: {sum(row.get('lost', 0) for row in rows)}"
    for kind in KINDS:
        own = [gone for told, gone in each if told.split()[0] == kind]
        if own:
            yield f"  {kind}: {sum(own)} of {len(own)}"
    yield from (f"  stays: {told}" for told, gone in each if not gone)


if __name__ == "__main__":
    main()
