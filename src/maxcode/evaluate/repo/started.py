"""The files that base's own scripts start: what ``npm run bench`` or ``make check`` runs decides as a command does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PACKAGE = "package.json"
SHELL = (".sh", ".bash")
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_INTERPRETER = re.compile(r"\$[({]\w*(?:PY|NODE)\w*[)}]", re.IGNORECASE)
_VARIABLE = re.compile(r"\$(?:\([^()\n]*\)|\{[^{}\n]*\}|\S)")


def started_lines(texts: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """The commands in base's scripts, each alone.  ``texts``: path -> text of makefiles at the top, of ``package.json``
    and of shell scripts that commands name; ``words``: of these commands."""
    lines: list[str] = []
    for path, text in texts.items():
        if path == PACKAGE:
            lines.extend(_scripts(text, words))
            continue
        is_make = PurePosixPath(path).name in MAKEFILES
        joined = text.replace("\\\n", " ").splitlines()
        lines.extend(line.lstrip("\t @-+") for line in joined if not is_make or line.startswith("\t"))
    return [_plain(part) for line in lines for part in _PARTS.split(line) if part.strip()]


def _scripts(text: str, words: Sequence[str]) -> Iterator[str]:
    """The scripts of a package that commands name, and those that these name."""
    table: object = {}
    with suppress(ValueError, RecursionError):
        table = json.loads(text)
    scripts = table.get("scripts") if isinstance(table, dict) else None
    left = {name: one for name, one in scripts.items() if isinstance(one, str)} if isinstance(scripts, dict) else {}
    asked = list(words)
    while asked:
        word = asked.pop()
        for name in (word, f"pre{word}", f"post{word}"):
            if (one := left.pop(name, None)) is not None:
                yield one
                asked.extend(one.split())


def _plain(line: str) -> str:
    """A command with an interpreter in the place of a variable that names one, and without other variables."""
    return _VARIABLE.sub(" ", _INTERPRETER.sub("python", line.strip()))
