"""The conditions that many rules share: where text may be inserted, and which inserted text a program may hold.

A loop is *held* if something outside it relies on its place: a pragma of OpenMP in front of it or of a loop around it,
a macro in front of it, a conditional directive, or a jump into it; or if it uses what is volatile or atomic.  No rule
edits a held loop.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from tree_sitter import Node

from maxcode.code.cpp.declarations import ancestor, parameter
from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.unnamed import unnamed
from maxcode.code.cpp.views import classes
from maxcode.code.cpp.watched import is_watched
from maxcode.code.cpp.words import PURE, READING
from maxcode.code.source import Patch, Token, text_of, tokens, walk
from maxcode.policy.rules.rewriter.runtime import piece

_LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
_BEFORE = frozenset({"{", "}", ";", "else", "do", ":"})
_HEADS = frozenset({"if", "for", "while", "switch", "constexpr"})
_NESTED = frozenset({"collapse", "ordered", "tile", "loop", "unroll"})
_CONDITIONAL = frozenset({"if", "ifdef", "ifndef", "else", "elif", "endif"})
_KEYWORDS = frozenset({"auto", "const", "int", "long", "unsigned", "short", "char", "float", "double", "for", "if",
                       "return", "static", "void", "struct"})  # fmt: skip
_WRITTEN = re.compile(r"(?:\bmxr::|\bstd::|\.)\s*(\w+)|\b(lane|result|a|b|mxr_\w+)\b")
_THREADS = frozenset({"thread", "jthread", "async", "pthread_create", "thrd_create", "execution", "tbb", "cilk_spawn"})
_OLD_CPP = frozenset({"c++98", "gnu++98", "c++03", "gnu++03"})
_CPP_11 = frozenset({"c++11", "gnu++11", "c++0x", "gnu++0x"})
_CPP_14 = frozenset({"c++14", "gnu++14", "c++1y", "gnu++1y"})
_OLD_C = frozenset({"c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"})
_NEEDS_17 = frozenset({"lambda", "power", "remainder", "radix"})


def held(unit: Unit, node: Node) -> bool:
    """Whether no text may be put in front of a loop or around it."""
    if _pragma_words(unit, node) is not None or _is_entered(node) or _is_cut_short(unit, node):
        return True
    around = node.parent
    while around is not None and around.type != "function_definition":
        words = _pragma_words(unit, around) if around.type in _LOOPS else None
        if words is not None and (not words or words & _NESTED):
            return True
        around = around.parent
    return node.start_byte in _in_macros(unit) or is_watched(unit, node.start_byte, node.end_byte)


@lru_cache(maxsize=16)
def _starts(unit: Unit) -> dict[int, int]:
    return {token.start: number for number, token in enumerate(unit.tokens)}


def _before(unit: Unit, position: int) -> Iterator[Token]:
    """The tokens before one, the nearest first."""
    return (unit.tokens[k] for k in range(position - 1, -1, -1))


def _pragma_words(unit: Unit, node: Node) -> frozenset[str] | None:
    """The words of the directives in front of a node, comments aside; None if there are none, or only ``#pragma GCC``.
    An empty set stands for words that are not known."""
    position = _starts(unit).get(node.start_byte)
    if position is None:
        return frozenset()
    found: set[str] = set()
    line: list[str] = []
    for token in _before(unit, position):
        if not token.directive:
            break
        line.insert(0, token.text)
        if token.text == "#":
            if line[1:2] == ["pragma"] and line[2:3] != ["GCC"]:
                found |= set(line)
            elif line[1:2] and line[1] in _CONDITIONAL:
                return frozenset()
            line = []
    return frozenset(found) or _macro_words(unit, position)


def _macro_words(unit: Unit, position: int) -> frozenset[str] | None:
    """An empty set if a macro that is no loop stands in front of a token, so that it may be a pragma; else None."""
    before = next((token for token in _before(unit, position) if not token.directive), None)
    if before is None or before.text in _BEFORE:
        return None
    return None if before.text == ")" and _heads(unit, before) else frozenset()


def _heads(unit: Unit, close: Token) -> bool:
    """Whether a closing bracket ends the head of a statement, or of a macro that is a loop."""
    position, depth = _starts(unit)[close.start], 0
    for k in range(position, 0, -1):
        depth += (unit.tokens[k].text == ")") - (unit.tokens[k].text == "(")
        if depth == 0:
            name = unit.tokens[k - 1].text
            macro = unit.macros.get(name)
            loop = macro is not None and macro.clear and bool(macro.body) and macro.body[0].text in ("for", "while")
            return name in _HEADS or loop
    return False


def _is_entered(node: Node) -> bool:
    """Whether a jump may enter a loop (a label in it, or a case of a switch around it), or the tree is wrong about its
    end."""
    for inner in walk(node):
        if inner.type == "labeled_statement" or (inner.type == "preproc_call" and _is_body(inner)):
            return True
        if inner.type == "case_statement":
            around = inner.parent
            while around is not None and around != node and around.type != "switch_statement":
                around = around.parent
            if around is None or around == node:
                return True
    return False


def _is_cut_short(unit: Unit, node: Node) -> bool:
    """Whether an ``else`` follows a loop that stands in no ``if``: the grammar lost what comes behind a pragma."""
    parent = node.parent
    inside = parent is not None and parent.type in ("if_statement", "else_clause")
    position = bisect.bisect_left(unit.tokens, node.end_byte, key=lambda token: token.start)
    return not inside and position < len(unit.tokens) and unit.tokens[position].text == "else"


def _is_body(pragma: Node) -> bool:
    """Whether the grammar took a pragma for the whole body of a statement; the true body follows."""
    around = pragma.parent
    return around is not None and around.type in ("if_statement", "else_clause", *_LOOPS)


@lru_cache(maxsize=16)
def _in_macros(unit: Unit) -> frozenset[int]:
    """Where tokens start that are part of an argument of a macro: a directive may not stand there."""
    found: set[int] = set()
    around = [False]  # for each bracket that is open, whether it or one around it is that of a macro
    for before, token in pairwise(unit.tokens):
        if around[-1]:
            found.add(token.start)
        if token.text == "(":
            name = before.text
            macro = name in unit.macros or name == "assert" or (name.isupper() and name in unit.shared)
            around.append(around[-1] or macro)
        elif token.text == ")" and len(around) > 1:
            around.pop()
    return frozenset(found)


def inserts_well(unit: Unit, edit: Edit) -> bool:
    """Whether the text that an edit inserts has the meaning it should: no macro of the program changes it, and the
    flags allow it."""
    texts = [patch.text for patch in edit.change.patches]
    macros = _macro_names(unit)
    if macros:
        written = {name for text in texts for found in _WRITTEN.findall(text) for name in found if name}
        if written & macros or _writes_keyword(unit, edit, macros & _KEYWORDS):
            return False
    return all(_piece_fits(unit, name) for name, _ in edit.change.snippets) and _standard_allows(unit, edit, texts)


def _writes_keyword(unit: Unit, edit: Edit, keywords: frozenset[str]) -> bool:
    pieces = [(unit.between(patch.start, patch.end), patch.text) for patch in edit.change.patches]
    return any(
        len(re.findall(rf"\b{word}\b", after)) > len(re.findall(rf"\b{word}\b", before))
        for before, after in pieces
        for word in keywords
    )


@lru_cache(maxsize=16)
def _macro_names(unit: Unit) -> frozenset[str]:
    """The macros of the program, of its other files and of its flags."""
    elsewhere = {name for text in unit.others for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)}
    return frozenset(unit.macros) | frozenset(elsewhere) | defined(unit)


def defined(unit: Unit) -> frozenset[str]:
    """The macros that the flags define."""
    return frozenset(flag[2:].split("=")[0] for flag in unit.flags if flag.startswith("-D"))


def _piece_fits(unit: Unit, name: str) -> bool:
    """Whether a piece of the runtime builds with the flags."""
    words = _words_of_piece(name, unit.language)
    if words & defined(unit) or ("-fno-exceptions" in unit.flags and "throw" in words):
        return False
    if "-Werror" in unit.flags and (unit.language == "c" or name == "pool"):
        return False  # the compiler warns of them
    standard = standard_of(unit)
    if unit.language == "c":
        return standard not in _OLD_C
    if standard in _OLD_CPP | _CPP_11:
        return False
    return standard not in _CPP_14 or name not in _NEEDS_17


@cache
def _words_of_piece(name: str, language: str) -> frozenset[str]:
    return frozenset(token.text for token in tokens(piece(name, language)) if token.is_word)


def standard_of(unit: Unit) -> str:
    """The language standard that the flags name; empty if they name none."""
    named = [flag.removeprefix("-std=") for flag in unit.flags if flag.startswith("-std=")]
    return "c90" if "-ansi" in unit.flags and unit.language == "c" else named[-1] if named else ""


def is_strict(unit: Unit) -> bool:
    """Whether the flags turn extensions or warnings into errors."""
    return any(flag in ("-Werror", "-pedantic-errors", "-Werror=pedantic") for flag in unit.flags)


def _standard_allows(unit: Unit, edit: Edit, texts: list[str]) -> bool:
    standard, whole = standard_of(unit), " ".join(texts)
    if unit.language == "c":
        strict = standard in _OLD_C and standard.startswith(("c", "iso"))
        return not (strict and edit.rule not in ("interchange", "attribute", "unroll", "ivdep")) and not (
            is_strict(unit) and "__auto_type" in _words(whole)
        )
    if standard in _OLD_CPP:
        return not _words(whole) & {"auto", "nullptr", "emplace", "emplace_back"}
    return standard not in _CPP_11 or not ("](" in whole and "auto" in _words(whole))


def _words(text: str) -> set[str]:
    return {token.text for token in tokens(text) if token.is_word}


def runs_threads(unit: Unit) -> bool:
    """Whether the program may run several threads."""
    return not unit.words.isdisjoint(_THREADS) or {"omp", "parallel"} <= unit.words


def may_wait(unit: Unit, loop: Node) -> bool:
    """Whether a loop may see what another thread does: it calls something, takes a lock, or holds a pragma."""
    here = effects(unit).of(loop.start_byte, loop.end_byte)
    locks = any("lock" in word or "guard" in word for word in here.words)
    inside = (
        n for n in unit.nodes("preproc_call", "field_expression") if loop.start_byte <= n.start_byte < loop.end_byte
    )
    waits = any(
        n.type == "preproc_call" or (_is_called(n) and text_of(n).rsplit(".")[-1] not in READING) for n in inside
    )
    return bool(here.calls) or here.opaque or bool(here.outside - PURE) or locks or waits


def _is_called(node: Node) -> bool:
    return node.parent is not None and node.parent.child_by_field_name("function") == node


def are_in_first_thread(unit: Unit, patches: Sequence[Patch]) -> bool:
    """Whether no other thread than the first runs what is changed."""
    if not runs_threads(unit):
        return True
    others: list[Node | None] = [*unit.nodes("lambda_expression")]
    others += [node.next_named_sibling for node in unit.nodes("preproc_call") if "omp" in text_of(node)]
    starts = [patch.start for patch in patches]
    inside = any(node is None or node.start_byte <= at < node.end_byte for node in others for at in starts)
    return unit.main is not None and all(unit.home(at) == unit.main for at in starts) and not inside


def runs_before_main(unit: Unit, names: Collection[str]) -> bool:
    """Whether code that uses one of these names may run before main: a constructor, or the value of a global."""
    made = [v for v in unit.variables if ancestor(v.node, "function_definition") is None]
    spans = [v.value for v in made if v.value is not None]
    spans += [
        value
        for node in unit.nodes("init_declarator")
        if ancestor(node, "function_definition") is None and (value := node.child_by_field_name("value")) is not None
    ]
    objects = any(not classes(unit).keys().isdisjoint(re.findall(r"\w+", unit.resolve(v.type))) for v in made)
    parts = [effects(unit).of(node.start_byte, node.end_byte) for node in spans]
    parts += [effects(unit).of(*code.span) for code in unnamed(unit)] if objects else []
    parts += [effects(unit).closure(name) for part in [*parts] for name in sorted(part.calls)]
    return "constructor" in unit.words or any(not (part.words | part.outside).isdisjoint(names) for part in parts)


def owns_new(unit: Unit) -> bool:
    """Whether the program defines operator new or delete, in any of its files."""
    texts = [token.text for token in unit.tokens]
    if any(a == "operator" and b in ("new", "delete") for a, b in pairwise(texts)):
        return True
    return "operator" in unit.shared and bool(unit.shared & {"new", "delete"})


def declares(node: Node, names: frozenset[str]) -> bool:
    """Whether one of the names is declared inside a node."""
    inside = (inner for inner in walk(node) if inner.type == "identifier" and text_of(inner) in names)
    return any(_is_declared(inner, inner.parent) for inner in inside if inner.parent is not None)


def _is_declared(name: Node, around: Node) -> bool:
    """Whether a name is what the node around it declares."""
    if around.type in ("for_range_loop", "array_declarator"):
        return around.child_by_field_name("declarator") == name
    declaring = around.type.endswith("_declarator") or around.type in ("declaration", "parameter_declaration")
    return declaring and around.child_by_field_name("value") != name


def has_stream_of_its_own(unit: Unit) -> bool:
    """Whether an operator << takes another left side than a stream, so that std::endl may do something of its own."""
    for node in unit.nodes("operator_name"):
        if text_of(node).replace(" ", "") != "operator<<":
            continue
        if ancestor(node, "friend_declaration") is None and ancestor(node, "field_declaration_list") is not None:
            return True
        listed = node.parent.child_by_field_name("parameters") if node.parent is not None else None
        given = [parameter(child) for child in listed.named_children if child.type != "comment"] if listed else []
        if given and "stream" not in given[0].type and not all(unit.is_number(one.type) for one in given[1:]):
            return True
    return False
