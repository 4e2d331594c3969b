"""Applies a unified diff of one file or several, as models write them: line numbers and counts are often wrong.

    --- a/src/main.c
    +++ b/src/main.c
    @@ -10,4 +10,4 @@
     context
    -old
    +new

A hunk is found by its lines, not by its numbers; of several places where its lines stand the nearest to its number
counts.  ``--- /dev/null`` makes a new file.  The files of one name that end like the path of the diff count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import final

from maxcode.core.types import Program
from maxcode.llm.completion.blocks import Unread, line_end
from maxcode.llm.completion.edits import indent_of, places_of
from maxcode.llm.completion.nearest import what_stands_there

_FILE = re.compile(r"^--- \S[^\n]*\n\+\+\+ \S", re.MULTILINE)
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*|@@.*")
_OUTER = re.compile(r"diff --git |index [0-9a-f]|new file mode |deleted file mode |similarity |rename |Binary files ")
_SIGNATURE = re.compile(r"-- \n\d+(?:\.\d+)+")  # the end of what git format-patch writes
_NOTHING = "/dev/null"
_ENDS = ("```", "~~~")


@final
@dataclass(slots=True)
class Hunk:
    """``lines``: (mark, text), the mark " ", "-" or "+", or "" of a line of context that lacks it.  ``near``: the line
    (from 1) that the diff names, or 0."""

    number: int
    near: int
    lines: list[tuple[str, str]] = field(default_factory=list)

    @property
    def old(self) -> list[str]:
        """The lines to find."""
        return [text for mark, text in self.lines if mark != "+"]

    def without_words(self) -> Hunk:
        """The hunk without what follows its last change from a line without a mark on: it may be words on the diff.
        The whole hunk if no line to find is left."""
        changes = [at for at, (mark, _) in enumerate(self.lines) if mark in ("+", "-")]
        words = [at for at, (mark, _) in enumerate(self.lines) if not mark and changes and at > changes[-1]]
        kept = self.lines[: words[0]] if words else self.lines
        has_place = any(mark != "+" and text.strip() for mark, text in kept)
        return _trimmed(Hunk(self.number, self.near, kept if has_place else self.lines))


@final
@dataclass(slots=True)
class FilePatch:
    """The hunks of one file, with the paths that the diff gives before and after."""

    before: str
    after: str
    hunks: list[Hunk] = field(default_factory=list)


def has_diff(answer: str) -> bool:
    """Whether the answer has the heads of a file and of a hunk."""
    return _FILE.search(answer) is not None and re.search(r"^@@", answer, re.MULTILINE) is not None


def patched(answer: str, program: Program) -> Program | Unread:
    """The program after all hunks of the answer's diff; Unread if one does not fit, or if nothing changes."""
    after = program
    for one in _file_patches(answer.split("\n")):
        applied = _applied(one, after)
        if isinstance(applied, Unread):
            return applied
        after = applied
    return after if after.files != program.files else Unread("nothing changed: the diff leaves every file as it is")


def _file_patches(lines: Sequence[str]) -> list[FilePatch]:
    found: list[FilePatch] = []
    hunk: Hunk | None = None
    for at, line in enumerate(lines):
        follows = lines[at + 1] if at + 1 < len(lines) else ""
        if line.startswith("--- ") and follows.startswith("+++ "):
            found.append(FilePatch(_path_of(line), _path_of(follows)))
            hunk = None
        elif found and (head := _HUNK.fullmatch(line)) is not None:
            hunk = Hunk(sum(len(one.hunks) for one in found) + 1, int(head[1] or 0))
            found[-1].hunks.append(hunk)
        elif line.startswith(_ENDS) or _OUTER.match(line) or _SIGNATURE.fullmatch(f"{line}\n{follows.strip()}"):
            hunk = None
        elif hunk is not None:
            _take(hunk, line)
    for one in found:
        one.hunks = [_trimmed(hunk) for hunk in one.hunks]
    return found


def _take(hunk: Hunk, line: str) -> None:
    if line[:1] in ("+", "-"):
        hunk.lines.append((line[0], line[1:]))
    elif not line.startswith("\\"):  # "\ No newline at end of file"
        has_mark = not line.strip() or line.startswith(" ")
        hunk.lines.append((" " if has_mark else "", line.removeprefix(" ")))


def _trimmed(hunk: Hunk) -> Hunk:
    """Without the blank lines after it, which belong to the text around the diff."""
    lines = list(hunk.lines)
    while lines and lines[-1] == (" ", ""):
        lines.pop()
    return Hunk(hunk.number, hunk.near, lines)


def _path_of(line: str) -> str:
    return re.sub(r"^(?:---|\+\+\+) ", "", line).partition("\t")[0].strip().strip('"')


def _applied(patch: FilePatch, program: Program) -> Program | Unread:
    if patch.after == _NOTHING:
        return Unread(f"the diff removes {_short(patch.before)}: a file cannot be removed; leave it as it is")
    if patch.before == _NOTHING:
        return _with_new_file(patch, program)
    path = _known(patch, program)
    if path is None:
        return Unread(f"the diff changes {_short(patch.after)}, which is none of the files: {_listed(program)}")
    text = program.files[path]
    end = line_end(text)
    lines, shift = text.split(end), 0
    for read in patch.hunks:
        ways = ((hunk, _place(lines, hunk, shift)) for hunk in (read, read.without_words()))
        hunk, at = next((way for way in ways if way[1] is not None), (read, None))
        if at is None:
            return Unread(
                f"hunk {hunk.number} of the diff does not fit into {path}: its lines are not there"
                f"{what_stands_there({path: chr(10).join(lines)}, hunk.old)}"
            )
        count = len(hunk.old)
        put = _put(lines[at : at + count], hunk)
        lines[at : at + count] = put
        shift += len(put) - count
    return Program({**program.files, path: end.join(lines)})


def _with_new_file(patch: FilePatch, program: Program) -> Program | Unread:
    path = _short(patch.after)
    if path in program.files:
        return Unread(f"the diff makes {path} as a new file, but it is there already; change it")
    text = "\n".join(line for hunk in patch.hunks for mark, line in hunk.lines if mark == "+")
    return Program({**program.files, path: f"{text}\n"})


def _short(path: str) -> str:
    """The path without the ``a/`` or ``b/`` of git."""
    return re.sub(r"^[ab]/", "", path)


def _known(patch: FilePatch, program: Program) -> str | None:
    """The file of the program that the diff changes: by its path, else by its name if only one file has that."""
    for path in (_short(patch.before), _short(patch.after), patch.before, patch.after):
        if path in program.files:
            return path
    name = PurePosixPath(patch.after).name
    same = [path for path in program.files if PurePosixPath(path).name == name]
    return same[0] if len(same) == 1 else None


def _listed(program: Program) -> str:
    paths = list(program.files)
    return ", ".join(paths[:10]) + (f" and {len(paths) - 10} more" if len(paths) > 10 else "")


def _place(lines: Sequence[str], hunk: Hunk, shift: int) -> int | None:
    """Where the old lines of a hunk stand: verbatim, then without white space at line ends, then without indentation.
    Of several places the nearest to the line that the hunk names."""
    old = hunk.old
    if not old:  # only additions, without context
        return min(len(lines), max(0, hunk.near + shift)) if hunk.near else None
    for key in (str, str.rstrip, str.strip):
        if found := places_of(lines, old, key):
            return min(found, key=lambda at: abs(at + 1 - hunk.near - shift))
    return None


def _put(have: Sequence[str], hunk: Hunk) -> list[str]:
    """The new lines.  Context stays as it stands in the file; added lines get the indentation that lines of theirs have
    there."""
    indents: dict[str, str] = {}
    for there, said in zip(have, hunk.old, strict=True):
        if said.strip():
            indents.setdefault(indent_of(said), indent_of(there))
    kept = iter(have)
    put = []
    for mark, text in hunk.lines:
        stands = next(kept) if mark != "+" else ""
        if mark in (" ", ""):
            put.append(stands)
        elif mark == "+":
            indent = indent_of(text)
            put.append(indents.get(indent, indent) + text[len(indent) :])
    return put
