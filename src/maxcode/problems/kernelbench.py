"""The suite ``kernelbench``: PyTorch modules, by level and number.

    kernelbench:1/19, kernelbench:level1/19, kernelbench:level2/14_Gemm_Divide_Sum_Scaling, kernelbench:1 (all of it)

Nothing is downloaded.  ``$MAXCODE_KERNELBENCH``, else ``KernelBench`` in the current folder, is a checkout of the
repository (or its folder with level1, level2, ...), or the published data set as JSON lines, one object with ``code``,
``level``, ``name`` and ``problem_id`` a line.  The texts differ between versions, so every result holds the SHA-256 of
its text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.files import DATA_AT_MOST, FileKind, read_text
from maxcode.core.types import Program
from maxcode.errors import InputError
from maxcode.problems.suite import Given, Listing, Origin, Source, sha256

KERNELBENCH = "kernelbench"
PREFIX = KERNELBENCH + ":"
VARIABLE = "MAXCODE_KERNELBENCH"
_KIND = FileKind("the file of KernelBench", at_most=DATA_AT_MOST)
_CONTRACT = re.compile(r"^class[ \t]+Model\b.*^def[ \t]+get_inputs\b", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"(?:level_?)?(\d+)/(\d+)(_[^/]*?)?(?:\.py)?")
_LEVEL = re.compile(r"(?:level_?)?(\d+)")
_HOW = (
    f"get it with `git clone https://github.com/ScalingIntelligence/KernelBench` and set {VARIABLE} to that folder, "
    "which contains KernelBench/level1/*.py, or to a .jsonl file of the published data set"
)
_CONVERT = (
    "export it as JSON lines on a machine with pyarrow or pandas, e.g. "
    'python -c \'import pandas, sys; pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient="records", '
    "lines=True)' level_1.parquet kernelbench.jsonl"
)


class _Row(msgspec.Struct, frozen=True):
    """A row of the published data set."""

    code: str
    level: int
    name: str
    problem_id: int

    @property
    def file(self) -> str:
        return self.name if self.name.endswith(".py") else self.name + ".py"


@final
class KernelBench:
    def listing(self, words: str) -> Listing:
        """The problems of ``LEVEL`` in the order of their ids, or ``LEVEL/ID`` itself."""
        level = _LEVEL.fullmatch(words)
        if level is None:
            return Listing((Source(Path(PREFIX + words)),))
        return Listing(tuple(Source(Path(f"{PREFIX}{level[1]}/{number}")) for number in files(int(level[1]))))

    def given(self, words: str) -> Given:
        """The problem called ``LEVEL/ID``."""
        found = _NAME.fullmatch(words)
        if found is None:
            raise InputError(
                f"'{PREFIX}{words}' is not the name of a problem; write kernelbench:LEVEL/ID, e.g. kernelbench:1/19"
            )
        level, number, rest = int(found[1]), int(found[2]), found[3]
        problems = _problems(level)
        if number not in problems:
            raise InputError(
                f"KernelBench's level {level} has no problem {number}; it has {min(problems)} to {max(problems)}"
            )
        file, read = problems[number]
        if rest is not None and file != f"{number}{rest}.py":
            raise InputError(f"problem {number} of KernelBench's level {level} is {file}, not {number}{rest}.py")
        text = read()
        name = f"{KERNELBENCH}-{level}-{file.removesuffix('.py')}"
        origin = Origin(KERNELBENCH, file, name, sha256(text), {"level": level, "id": number})
        return Given(origin, {"source": file, "kind": "module"}, Program({file: text}))


def is_contract(text: str) -> bool:
    """Whether a text defines what every KernelBench problem defines: Model and get_inputs."""
    return _CONTRACT.search(text) is not None


def files(level: int) -> dict[int, str]:
    """The file names of all problems of a level by their ids, in order."""
    return {number: file for number, (file, _) in _problems(level).items()}


def _problems(level: int) -> Mapping[int, tuple[str, Callable[[], str]]]:
    """File name and a function that reads the text, by id, in order."""
    place = _place()
    found = dict(_rows(place, level) if place.is_file() else _files(place, level))
    if not found:
        raise InputError(f"{place} has no problems of level {level} (level{level}/ID_Name.py); {_HOW}")
    return {number: found[number] for number in sorted(found)}


def _place() -> Path:
    said = os.environ.get(VARIABLE, "")
    place = Path(said or "KernelBench")
    if place.suffix == ".parquet":
        raise InputError(f"{VARIABLE} is {place}; maxcode does not read parquet files: {_CONVERT}")
    if not place.exists():
        where = f"{VARIABLE} is {said}, which does not exist" if said else f"{VARIABLE} is not set"
        raise InputError(f"KernelBench is not on this machine ({where}); {_HOW}")
    return place


def _files(place: Path, level: int) -> Iterator[tuple[int, tuple[str, Callable[[], str]]]]:
    for folder in (place / "KernelBench" / f"level{level}", place / f"level{level}"):
        for path in folder.glob("*_*.py"):
            number = path.name.partition("_")[0]
            if number.isdecimal():
                yield int(number), (path.name, lambda path=path: _text(path))  # type: ignore[misc]
        if folder.is_dir():
            return
    if any(place.glob("**/*.parquet")):
        raise InputError(f"{place} holds parquet files, which maxcode does not read: {_CONVERT}")


def _rows(place: Path, level: int) -> Iterator[tuple[int, tuple[str, Callable[[], str]]]]:
    for number, line in enumerate(_text(place).splitlines(), start=1):
        try:
            row = msgspec.json.decode(line, type=_Row)
        except msgspec.MsgspecError as error:
            raise InputError(
                f"{place}, line {number}: {error}; a line must have code, level, name and problem_id"
            ) from error
        if row.level == level:
            yield row.problem_id, (row.file, lambda row=row: row.code)  # type: ignore[misc]


def _text(path: Path) -> str:
    return read_text(path, _KIND)
