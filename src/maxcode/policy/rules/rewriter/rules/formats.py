"""Parses the formats of scanf and printf at rewriting time, so that the program does not parse them at run time."""

from __future__ import annotations

import re
from typing import NamedTuple

from tree_sitter import Node

from maxcode.code.source import text_of

_DIRECTIVE = re.compile(r"%(?P<how>[-+ 0#]*\d*(?:\.\d+)?)(?P<kind>(?:hh|h|ll|l|L|I64|q|z|j|t)?[a-zA-Z])")
_END = re.compile(r"(?<!\\)(?:\\\\)*\\(?:000|0{1,2}(?![0-7])|x0+(?![0-9a-fA-F]))")  # a zero ends a format
_PERCENT = re.compile(r"(?<!\\)(?:\\\\)*\\(?:0?45(?![0-7])|x0*25(?![0-9a-fA-F]))")  # by its number
_BLANK = re.compile(r"(?: |\t|\\[tnvfr])+")

# conversion of scanf: (C++ argument, letter of the C runtime)
_SCANNED = {
    "d": ("(int*)({})", "d"),
    "u": ("(unsigned*)({})", "u"),
    "ld": ("(long*)({})", "q"),
    "lu": ("(unsigned long*)({})", "U"),
    "lld": ("(long long*)({})", "q"),
    "llu": ("(unsigned long long*)({})", "U"),
    "zu": ("(size_t*)({})", "U"),
    "hd": ("(short*)({})", "h"),
    "f": ("(float*)({})", "f"),
    "lf": ("(double*)({})", "g"),
    "Lf": ("(long double*)({})", "L"),
    "s": ("mxr::reader::text{{(char*)({})}}", "s"),
    "c": ("mxr::reader::character{{(char*)({})}}", "c"),
}
# conversion of printf: (C++ member, C function, cast)
_PRINTED = {
    "d": ("number", "mxr_signed", "(int)"),
    "i": ("number", "mxr_signed", "(int)"),
    "u": ("number", "mxr_unsigned", "(unsigned)"),
    "ld": ("number", "mxr_signed", "(long long)"),
    "lld": ("number", "mxr_signed", "(long long)"),
    "lu": ("number", "mxr_unsigned", "(unsigned long long)"),
    "llu": ("number", "mxr_unsigned", "(unsigned long long)"),
    "zu": ("number", "mxr_unsigned", "(unsigned long long)"),
    "c": ("put", "mxr_put", "(char)"),
    "s": ("text", "mxr_text", ""),
}


class Part(NamedTuple):
    """Literal text (as written in the source, ``how`` empty) or one conversion such as ``.2`` ``lf``."""

    literal: str
    how: str = ""
    kind: str = ""


def parts(node: Node) -> list[Part] | None:
    """The parts of a plain string literal as a format; None if it is not a plain literal."""
    source = text_of(node)
    if node.type != "string_literal" or not source.startswith('"') or _END.search(source) or _PERCENT.search(source):
        return None
    inside, found, position = source[1:-1], [Part("")], 0
    while position < len(inside):
        if inside.startswith("%%", position):
            taken = "%%"
            found[-1] = Part(found[-1].literal + "%")
        elif inside[position] == "%":
            match = _DIRECTIVE.match(inside, position)
            if match is None or match["kind"][-1] in "nmCS":
                return None
            taken = match.group()
            found += [Part("", match["how"], match["kind"]), Part("")]
        else:
            taken = inside[position : position + 2] if inside[position] == "\\" else inside[position]
            found[-1] = Part(found[-1].literal + taken)
        position += len(taken)
    return [part for part in found if part.literal or part.kind]


def scan_items(node: Node, arguments: list[str], language: str) -> str | None:
    """The arguments of the runtime's scan for one scanf call; None if the runtime does not support its format."""
    found = parts(node)
    if found is None or sum(1 for part in found if part.kind) != len(arguments):
        return None
    waiting = iter(arguments)
    items: list[tuple[str, str]] = []
    for part in found:
        if part.kind:
            if part.how or part.kind not in _SCANNED:
                return None
            shape, letter = _SCANNED[part.kind]
            given = next(waiting)
            items.append((shape.format(given), letter))
        elif (more := _literal_items(part.literal)) is not None:
            items += more
        else:
            return None
    if language == "c":
        pointers = [f", {argument}" for argument in arguments]
        return f'"{"".join(letter for _, letter in items)}"{"".join(pointers)}'
    return ", ".join(item for item, _ in items)


def _literal_items(literal: str) -> list[tuple[str, str]] | None:
    items: list[tuple[str, str]] = []
    while literal:
        if blank := _BLANK.match(literal):
            items.append(("mxr::reader::blank{}", " "))
            literal = literal[blank.end() :]
        elif literal[0] in "\\\"'%" or not literal[0].isascii():
            return None
        else:
            items.append((f"mxr::reader::literal{{'{literal[0]}'}}", f"'{literal[0]}"))
            literal = literal[1:]
    return items


def print_calls(node: Node, arguments: list[str], language: str) -> list[str] | None:
    """The runtime calls that print the same as one printf call: C++ members (``put('x')``) or C calls."""
    found = parts(node)
    if found is None or sum(1 for part in found if part.kind) != len(arguments):
        return None
    waiting = iter(arguments)
    calls: list[str] = []
    for part in found:
        if not part.kind:
            calls.append(print_text(part.literal, language))
        elif not part.how and part.kind in _PRINTED:
            member, function, cast = _PRINTED[part.kind]
            calls.append(f"{function if language == 'c' else member}({cast}({next(waiting)}))")
        else:
            name = "mxr_format" if language == "c" else "format"
            calls.append(f'{name}("%{part.how}{part.kind}", {next(waiting)})')
    return calls


def print_text(literal: str, language: str) -> str:
    """The runtime call that prints literal text."""
    prefix = "mxr_" if language == "c" else ""
    single = re.fullmatch(r"[^\\'\x80-\U0010ffff]|\\[nt\\]", literal)
    return f"{prefix}put('{literal}')" if single else f'{prefix}text("{literal}")'
