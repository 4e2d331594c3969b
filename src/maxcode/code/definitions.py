"""Functions and types of a text with their lines: by tree-sitter in C, C++ and Python, elsewhere by braces
(``braces.py``).

For prompts: what is shown of a large repository.  Nothing is judged with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import final

from tree_sitter import Node

from maxcode.code.braces import braced
from maxcode.code.languages import language as language_row
from maxcode.code.languages import language_at
from maxcode.code.source import parse, text_of, walk

_FUNCTIONS = frozenset({"function_definition", "decorated_definition"})
_TYPES = frozenset({"struct_specifier", "class_specifier", "union_specifier", "enum_specifier", "type_definition",
                    "class_definition"})  # fmt: skip
_BRACKETS = re.compile(r"<[^<>()\[\]]*>|\([^<>()\[\]]*\)|\[[^<>()\[\]]*\]")
_LAST = re.compile(r"(?:::|\.)[^.:]*$")
_GOES_ON = re.compile(r"[ \t]+\S|[)\]}]")
_READ_LAST = 2048  # texts whose definitions are kept: each prompt of a run asks for them
_IDENTIFIERS = frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier"})


@final
@dataclass(frozen=True, slots=True)
class Definition:
    """``name``: without namespaces and classes.  ``first``, ``last``: lines, from 1."""

    name: str
    first: int
    last: int
    text: str
    is_type: bool = False


@lru_cache(maxsize=_READ_LAST)
def definitions(language: str, text: str) -> tuple[Definition, ...]:
    """The functions and types that a text defines, in order; types only where tree-sitter reads the language."""
    lines = text.split("\n")
    if not language_row(language).grammar:
        return tuple(_definition(lines, *one) for one in braced(language, text))
    found = []
    for node in walk(parse(language, text).root):
        if (name := _name(node)) and node.type in _FUNCTIONS | _TYPES:
            first, last = node.start_point.row, node.end_point.row
            found.append(_definition(lines, name, first + 1, last + 1, node.type in _TYPES))
    return tuple(found)


def _definition(lines: Sequence[str], name: str, first: int, last: int, is_type: bool) -> Definition:
    return Definition(name, first, last, "\n".join(lines[first - 1 : last]), is_type)


def function_named(language: str, text: str, name: str, line: int = 0) -> Definition | None:
    """The function of this name, which may have a path of classes before: that at the line, or nearest to it, if there
    are several."""
    short, owner = short_name(name), re.findall(r"\w+|$", _LAST.sub("", name))[-2:][0]
    known = definitions(language, text)
    found = [one for one in known if not one.is_type and one.name == short]
    classes = [one for one in known if one.is_type and one.name == owner]
    own = [one for one in found if owner and (_is_method(one, owner) or any(_holds(each, one) for each in classes))]
    return min(own or found, key=lambda one: (_away(one, line), one.last - one.first), default=None)


def _is_method(one: Definition, owner: str) -> bool:
    """Whether it is a method of Go of that type."""
    return re.match(rf"func \([^)]*\b{re.escape(owner)}\b", one.text) is not None


def _holds(one: Definition, other: Definition) -> bool:
    return one.first <= other.first and other.last <= one.last


def _away(one: Definition, line: int) -> int:
    return max(one.first - line, line - one.last, 0)


def value_named(text: str, name: str) -> Definition | None:
    """What defines a name at the top level, such as a constant, a table or a macro: its line, with those that are
    indented or close a bracket after it."""
    before = r"#[ \t]*define[ \t]+|(?![ \t#/*]|(?:from|import|use|using|return)\b)[^=(\n\"']*?"
    head = re.compile(rf"(?:{before})(?<!\w){re.escape(name)}\b")
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if name in line and head.match(line)), None)
    if first is None:
        return None
    last = first
    for number in range(first + 1, len(lines)):
        if lines[number - 1].endswith("\\") or _GOES_ON.match(lines[number]):
            last = number
        elif lines[number].strip():
            break
    return _definition(lines, name, first + 1, last + 1, is_type=False)


def function_at(language: str, text: str, name: str, line: int) -> Definition | None:
    """The function that a profile means: that of the name, or else the innermost one that holds the line."""
    if (named := function_named(language, text, name, line)) is not None:
        return named
    around = [one for one in definitions(language, text) if not one.is_type and one.first <= line <= one.last]
    return min(around, key=lambda one: one.last - one.first, default=None)


def short_name(name: str) -> str:
    """A function's name without its package, namespaces, classes, types and arguments: the ``m`` of ``p.(*T).m``,
    ``n::T<int>::m(int) const`` and ``<T as I>::m``; empty if it has none."""
    while (shorter := _BRACKETS.sub("", name)) != name:
        name = shorter
    name = re.sub(r"(?:\s*(?:const|volatile|noexcept|&))+$", "", name.strip())
    return re.split(r"::|\.|\s", name)[-1].strip("*& ")


def functions_named(files: Mapping[str, str], name: str) -> list[tuple[str, Definition]]:
    """(path, function) for each function of this name in files; it has no classes before."""
    found = ((path, one) for path, text in files.items() if name in text
             for one in definitions(language_at(path) or "javascript", text))  # fmt: skip
    return [(path, one) for path, one in found if one.name == name and not one.is_type]


def identifiers(language: str, text: str) -> list[str]:
    """The names that a part of a text uses, each once, in order: without comments and strings where tree-sitter reads
    the language."""
    if not language_row(language).grammar:
        return list(dict.fromkeys(re.findall(r"[^\W\d]\w*", text)))
    nodes = walk(parse(language, dedent(text)).root)
    return list(dict.fromkeys(text_of(node) for node in nodes if node.type in _IDENTIFIERS))


def _name(node: Node) -> str:
    """The name that a node defines; empty if it defines none."""
    if node.type == "decorated_definition":
        inner = node.child_by_field_name("definition")
        return _declared(inner) if inner is not None and inner.type == "function_definition" else ""
    if node.type == "function_definition" and node.parent is not None and node.parent.type == "decorated_definition":
        return ""  # its decorators belong to it
    return _declared(node)


def _declared(node: Node) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    while named is not None and (inner := named.child_by_field_name("declarator")) is not None:
        named = inner
    if named is None:
        return ""
    return re.split(r"::", text_of(named))[-1].strip("*& ")
