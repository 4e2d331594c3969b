"""The rows of PIE's files, in both of their formats, and their names.

    older (pie-perf):    problem_id, language, submission_id_v0, submission_id_v1, input, target, ...
    ICLR 2024:           problem_id, src_id, tgt_id, src_code, tgt_code, tests, ...

The name of a row is PROBLEM_ID/SLOW-FAST, from its own ids: unlike a row number, it stays the same when a file is
filtered, sampled or sorted.  Without ids it is the first 12 digits of the SHA-256 of both programs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.files import RECORD_AT_MOST, FileKind, opened
from maxcode.errors import InputError

_WORD = re.compile(r"[A-Za-z0-9_.]*[A-Za-z0-9_][A-Za-z0-9_.]*")  # no path, and no dash, which joins two ids
_ROWS = FileKind("the rows of PIE", at_most=RECORD_AT_MOST)
LANGUAGES = {"": "cpp", "C++": "cpp", "C": "c", "Python": "python"}


class PieRow(msgspec.Struct, frozen=True):
    """The fields of a row that are read; each format has its own."""

    problem_id: str
    language: str = ""
    src_code: str = ""
    tgt_code: str = ""
    input: str = ""
    target: str = ""
    src_id: str = ""
    tgt_id: str = ""
    submission_id_v0: str = ""
    submission_id_v1: str = ""
    tests: list[int | str] | str | None = None

    @property
    def slow(self) -> str:
        return self.src_code or self.input

    @property
    def fast(self) -> str:
        return self.tgt_code or self.target

    @property
    def ids(self) -> tuple[str, str]:
        """The submissions, slow and fast; empty if the row names none."""
        return self.src_id or self.submission_id_v0, self.tgt_id or self.submission_id_v1

    @property
    def name(self) -> str:
        """PROBLEM_ID/SLOW-FAST."""
        ids = self.ids
        if all(_WORD.fullmatch(one) for one in ids):
            return f"{self.problem_id}/{ids[0]}-{ids[1]}"
        return f"{self.problem_id}/{self.digest[:12]}"

    @property
    def digest(self) -> str:
        """SHA-256 of both programs, hexadecimal."""
        return hashlib.sha256(f"{self.slow}\0{self.fast}".encode()).hexdigest()

    @property
    def timed(self) -> tuple[str, ...] | None:
        """The tests that the row names, as they are written; None = all tests of the problem."""
        if isinstance(self.tests, str):  # a list that a text table turned into a string
            return tuple(re.findall(r"[^\s\[\],'\"]+", self.tests))
        return None if self.tests is None else tuple(str(one) for one in self.tests)

    @property
    def trouble(self) -> str:
        """Why the row cannot be used, independent of its tests; empty if it can."""
        if _WORD.fullmatch(self.problem_id) is None:
            return f"its problem_id '{self.problem_id}' is not a folder name"
        if self.language not in LANGUAGES:
            return f"its language is {self.language}; {', '.join(filter(None, LANGUAGES))} can be used"
        if not self.slow.strip():
            return "it has no program to make faster (src_code, or input in the older format)"
        if self.slow == self.fast:
            return "its two programs are the same text, so PIE's evaluation leaves it out too"
        return ""


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A row without its programs: its name, its place, and why it cannot be used (empty = it can).  ``at``: line
    number, and the first and last byte of the line; ``problem`` and ``timed`` as in ``PieRow``."""

    name: str
    file: Path
    at: tuple[int, int, int]
    trouble: str
    problem: str = ""
    timed: tuple[str, ...] | None = None

    @property
    def where(self) -> str:
        return f"{self.file}, line {self.at[0]}"

    def row(self) -> PieRow:
        """The row, read again; InputError if the file has changed or is missing."""
        try:
            with opened(self.file, _ROWS) as file:
                file.seek(self.at[1])
                return msgspec.json.decode(file.read(self.at[2] - self.at[1]), type=PieRow)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.where}: {error}; the file changed while it was read, repeat the command"
            ) from error


def entries(file: Path) -> tuple[Entry, ...]:
    """All rows of a file, in order; cached until the file changes."""
    try:
        about = file.stat()
        return _entries(file, about.st_mtime_ns, about.st_size)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error


@lru_cache(maxsize=8)  # 78,000 rows take seconds to read, and every name needs them
def _entries(file: Path, _changed: int, _size: int) -> tuple[Entry, ...]:
    return tuple(_unrepeated(_read(file)))


def _read(file: Path) -> Iterator[tuple[Entry, str]]:
    """Each row with a digest of its programs."""
    begin = 0
    alike: dict[tuple[str, ...] | None, tuple[str, ...] | None] = {}  # rows of a problem name the same tests
    with opened(file, _ROWS) as lines:
        for number, line in enumerate(lines, start=1):
            at = (number, begin, begin + len(line))
            begin += len(line)
            if not line.strip():
                continue
            try:
                row = msgspec.json.decode(line, type=PieRow)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                yield Entry(f"line {number}", file, at, f"it cannot be read: {error}"), ""
                continue
            yield (
                Entry(row.name, file, at, row.trouble, row.problem_id, alike.setdefault(row.timed, row.timed)),
                row.digest,
            )


def _unrepeated(read: Iterator[tuple[Entry, str]]) -> Iterator[Entry]:
    """The rows; a row with the name of an earlier one is marked as unusable."""
    first: dict[str, tuple[int, str]] = {}
    for entry, digest in read:
        line, text = first.setdefault(entry.name, (entry.at[0], digest))
        if line == entry.at[0]:
            yield entry
            continue
        what = "it repeats" if text == digest else "it has the same ids as, but other programs than,"
        yield replace(entry, trouble=f"{what} line {line}")
