"""Writes what macros stand for in the place of their uses, so that the elements in them are seen."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial
from itertools import pairwise

from maxcode.code.cpp.declarations import Function, Macro
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import PURE
from maxcode.policy.rules.kernels.effects import sides
from maxcode.policy.rules.kernels.nest import Assign, Body, Declare, Loop, changed, every, lexed, words_in

_MANY = 16  # uses inside one another; with more of them the text stays
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|undef)", re.MULTILINE)
_EXPRESSION = re.compile(r"[\w\s.+\-*/%()\[\],<>!&|?:]+|(?:[<>=!]=|&&|\|\|)")
_DOWN = re.compile(r"--\s*(\w+)|(\w+)\s*(?:--|-=)")
_FIXED = PURE | {"acos", "asin", "sinh", "cosh", "tanh", "expf", "logf", "exp2", "expm1", "log1p"}
_OPERATORS, _LOOSE = re.compile(r"[-+*/%<>=!&|^?:,]+"), re.compile(r"[<>=!&|^?:,]+")
_MOVES = ("[", "++", "--", "=", "+=", "-=", "{", ";", "->", ".")

Bodies = Mapping[str, tuple[tuple[str, ...] | None, str]]  # of macros, by name: parameters and text


def without_macros(unit: Unit, function: Function, body: Body) -> Body:
    """The items of a function without uses of the macros that are expressions; nothing changes if a definition depends
    on a condition, or ends.  Macros for a fixed number stay."""
    if not unit.macros or _CONDITIONAL.search(unit.text):
        return body
    moving, plain = _moving(unit, function, body), [one for one in unit.macros.values() if _is_plain(one, function)]
    known = {one.name: (one.params, _text(unit, one)) for one in plain if one.params is not None or one.name in moving}
    return changed(body, partial(_expanded, known)) if known else body


def pure_macros(unit: Unit, function: Function) -> frozenset[str]:
    """The macros that compute something of their parameters alone, wherever a function uses them."""
    if not unit.macros or _CONDITIONAL.search(unit.text):
        return frozenset()
    made = (one for one in unit.macros.values() if one.params is not None and is_of_parameters(one))
    return frozenset(one.name for one in made if _is_plain(one, function))


def counts_down_in_macro(unit: Unit, function: Function) -> bool:
    """Whether a macro that a function uses names a variable that counts down in it: loops over it are turned round."""
    text = unit.between(function.body.start_byte, function.body.end_byte)
    down = {name for pair in _DOWN.findall(text) for name in pair} if unit.macros else set[str]()
    return not named_in_macros(unit, text).isdisjoint(down)


def hidden_macros(unit: Unit, function: Function, body: Body) -> frozenset[str]:
    """The macros in the expressions of a function that may not stand for a fixed number, by names without brackets."""
    used = {word for item in every(body) for text, _ in sides(item) for word in words_in(text)}
    return _moving(unit, function, body) & used if unit.macros else frozenset()


def _moving(unit: Unit, function: Function, body: Body) -> frozenset[str]:
    """The macros without parameters that may not stand for the same number everywhere in a function."""
    names = {one.name for one in function.parameters}
    names |= {one.name for one in unit.variables if one.home is None and one.form in ("array", "pointer")}
    for item in every(body):
        match item:
            case Loop():
                names.add(item.var)
            case Declare():
                names.add(item.name)
            case Assign():
                names.add(item.target)
    return frozenset(one.name for one in unit.macros.values() if one.params is None and _moves(unit, one, names))


def _moves(unit: Unit, macro: Macro, names: Collection[str], depth: int = _MANY) -> bool:
    words = {token.text for token in macro.body}
    inner = [unit.macros[word] for word in words if word in unit.macros]
    called = any(a.is_word and a.text not in _FIXED and b.text == "(" for a, b in pairwise(macro.body))
    called = called or any(not re.match(r"[\w)\]]", a.text) and b.text == "*" for a, b in pairwise(macro.body))
    moving = called or not words.isdisjoint({*_MOVES, *names})
    return not depth or moving or _is_open(macro) or any(_moves(unit, one, names, depth - 1) for one in inner)


def _is_open(macro: Macro, operators: re.Pattern[str] = _OPERATORS) -> bool:
    """Whether a neighbour may take a part of what a macro stands for: ``i * N`` the 100 of ``100 + 1``."""
    depth = 0
    for place, token in enumerate(macro.body):
        depth += (token.text in "([") - (token.text in ")]")
        if not depth and place and operators.fullmatch(token.text):
            return True
    return False


def loose_macros(unit: Unit) -> frozenset[str]:
    """The macros of which a sum beside them takes a part: ``n >> 1`` with ``+ 1`` is ``n >> (1 + 1)``."""
    return frozenset(one.name for one in unit.macros.values() if _is_open(one, _LOOSE))


def words_behind(unit: Unit, text: str) -> set[str]:
    """The names in a text, with those in the macros that it uses."""
    found, waiting = set[str](), list(words_in(text))
    while waiting:
        word = waiting.pop()
        if word not in found:
            found.add(word)
            waiting += [token.text for token in unit.macros[word].body if token.is_word] if word in unit.macros else []
    return found


def named_in_macros(unit: Unit, text: str) -> set[str]:
    """The names in the macros that a text uses, also if they are in the text itself, without their parameters."""
    if not unit.macros:
        return set()
    used = [unit.macros[word] for word in words_behind(unit, text) if word in unit.macros]
    return {token.text for one in used for token in one.body if token.is_word and token.text not in (one.params or ())}


def is_of_parameters(macro: Macro) -> bool:
    """Whether a macro computes something of its parameters alone."""
    words = {token.text for token in macro.body if token.is_word}
    plain = all(_EXPRESSION.fullmatch(token.text) and token.text not in ("++", "--", "[") for token in macro.body)
    return macro.clear and plain and words <= set(macro.params or ())


def _text(unit: Unit, macro: Macro) -> str:
    return unit.between(macro.body[0].start, macro.body[-1].end)


def _is_plain(macro: Macro, function: Function) -> bool:
    """Whether a macro is an expression that is defined before a function."""
    if not macro.clear or not macro.body or macro.body[0].start > function.node.start_byte:
        return False
    words = [token.text for token in macro.body]
    plain = all(_EXPRESSION.fullmatch(word) and word not in ("++", "--") for word in words)
    return plain and macro.name not in words and "..." not in (macro.params or ())


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
    for place, word in enumerate(words):
        params, body = known.get(word.text, ((), ""))
        if word.text in known and params is None:
            return (data[: word.start] + body.encode("utf-8", "surrogateescape") + data[word.end :]).decode(
                "utf-8", "surrogateescape"
            )
        if word.text not in known or params is None or [one.text for one in words[place + 1 : place + 2]] != ["("]:
            continue
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
