"""The pieces of C++ and C that edits insert, and the application of an edit to the text.

Each piece is a file ``name.cpp.inc`` (or ``name.c.inc``) that compiles on its own.  It is inserted behind the leading
includes of a program, before any macro of the program can change it, between two marker comments by which later edits
recognise it.  Its tuning constants are plain definitions (``constexpr int reader_buffer = 65536;``), so the same code
sets them first and changes them later.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from maxcode.code.cpp.edit import Edit, Snippet
from maxcode.code.cpp.unit import RUNTIME_BEGIN, RUNTIME_END, Unit
from maxcode.code.source import Patch, decode, encode
from maxcode.errors import MachineError


@cache
def piece(name: str, language: str) -> str:
    """The text of a piece; MachineError if the installation lacks it."""
    path = files(__package__) / f"{name}.{language}.inc"
    if not path.is_file():
        raise MachineError(f"the rewriter's runtime '{name}' for {language} is missing: reinstall maxcode")
    return path.read_text(encoding="utf-8")


def tuned(text: str, constant: str, value: int) -> str:
    """The text with ``constant = <number>`` set to ``value``."""
    return re.sub(rf"\b({re.escape(constant)} = )\d+", rf"\g<1>{value}", text)


def applied(unit: Unit, edit: Edit) -> str:
    """The program after an edit that was found on ``unit``."""
    inserted = "".join(_include(unit, header) for header in edit.change.includes)
    inserted += "".join(_block(unit, snippet) for snippet in edit.change.snippets)
    patches = [*edit.change.patches, Patch(unit.prelude, unit.prelude, inserted)]
    if b"\r\n" in unit.data:
        patches = [Patch(one.start, one.end, re.sub(r"\r?\n", "\r\n", one.text)) for one in patches]
    return patched(unit.data, patches)


def patched(data: bytes, patches: list[Patch]) -> str:
    """The bytes with the patches applied; those at one place in the order given.  ValueError if two overlap."""
    pieces: list[bytes] = []
    position = 0
    for patch in sorted(patches, key=lambda patch: (patch.start, patch.end)):
        if patch.start < position:
            raise ValueError(f"two changes overlap at byte {patch.start}: {patch.text!r}")
        pieces += [data[position : patch.start], encode(patch.text)]
        position = patch.end
    return decode(b"".join([*pieces, data[position:]]))


def holds(unit: Unit, name: str) -> bool:
    """Whether the program contains a piece of the runtime."""
    return f"{RUNTIME_BEGIN}{name} ----" in unit.text


def _include(unit: Unit, header: str) -> str:
    everything = "" if header.endswith(".h") else r"|bits/stdc\+\+\.h"
    leading = unit.between(0, unit.prelude)  # later ones may be in a conditional part
    known = re.search(rf"#[ \t]*include[ \t]*<({re.escape(header)}{everything})>", leading)
    return "" if known else f"#include <{header}>\n"


def _block(unit: Unit, snippet: Snippet) -> str:
    if holds(unit, snippet.name):
        return ""
    text = piece(snippet.name, unit.language)
    for constant, value in snippet.constants:
        text = tuned(text, constant, value)
    return f"{RUNTIME_BEGIN}{snippet.name} ----\n{text.rstrip()}\n{RUNTIME_END}\n"
