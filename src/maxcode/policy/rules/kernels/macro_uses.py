"""Writes what macros with parameters stand for in the place of their uses, so that the elements in them are seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from maxcode.code.cpp.declarations import Function, Macro
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.nest import Body, changed, lexed

_MANY = 16  # uses inside one another; with more of them the text stays
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|undef)", re.MULTILINE)
_EXPRESSION = re.compile(r"[\w\s.+\-*/%()\[\],<>!&|?:]+|(?:[<>=!]=|&&|\|\|)")

Bodies = Mapping[str, tuple[tuple[str, ...], str]]  # of macros, by name: parameters and text


def without_macros(unit: Unit, function: Function, body: Body) -> Body:
    """The items of a function without uses of the macros that are expressions; nothing changes if a definition depends
    on a condition, or ends."""
    if not unit.macros or _CONDITIONAL.search(unit.text):
        return body
    known = {one.name: (one.params or (), _text(unit, one)) for one in unit.macros.values() if _is_plain(one, function)}
    return changed(body, partial(_expanded, known)) if known else body


def _text(unit: Unit, macro: Macro) -> str:
    return unit.between(macro.body[0].start, macro.body[-1].end)


def _is_plain(macro: Macro, function: Function) -> bool:
    """Whether a macro is an expression of its parameters that is defined before a function."""
    if macro.params is None or not macro.clear or not macro.body or macro.body[0].start > function.node.start_byte:
        return False
    words = [token.text for token in macro.body]
    plain = all(_EXPRESSION.fullmatch(word) and word not in ("++", "--") for word in words)
    return plain and macro.name not in words and "..." not in macro.params


def _expanded(known: Bodies, text: str) -> str:
    if text.startswith("#"):
        return text
    made = text
    for _ in range(_MANY):
        before, made = made, _first_expanded(known, made)
        if made == before:
            return made
    return text


def _first_expanded(known: Bodies, text: str) -> str:
    """The text with its first use of a macro expanded."""
    words = lexed(text)
    data = text.encode("utf-8", "surrogateescape")
    for place, word in enumerate(words[:-1]):
        if word.text not in known or words[place + 1].text != "(":
            continue
        params, body = known[word.text]
        cuts, depth = [words[place + 1]], 0
        for token in words[place + 1 :]:
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0 or (depth == 1 and token.text == ","):
                cuts.append(token)
            if depth == 0:
                break
        given = [data[a.end : b.start].decode("utf-8", "surrogateescape").strip() for a, b in pairwise(cuts)]
        if depth or len(given) != len(params):
            return text
        made = _bound(body, dict(zip(params, given, strict=True)))
        return (data[: word.start] + made.encode("utf-8", "surrogateescape") + data[cuts[-1].end :]).decode(
            "utf-8", "surrogateescape"
        )
    return text


def _bound(body: str, given: Mapping[str, str]) -> str:
    """The body with arguments in the place of parameters, as they are."""
    data = body.encode("utf-8", "surrogateescape")
    pieces, position = [], 0
    for token in lexed(body):
        if token.text in given:
            pieces += [data[position : token.start].decode("utf-8", "surrogateescape"), given[token.text]]
            position = token.end
    return "".join(pieces) + data[position:].decode("utf-8", "surrogateescape")
