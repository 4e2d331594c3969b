"""Expands the macros in the tokens of a program, so that ``#define inc(x) x++`` hides nothing from a rule."""

from __future__ import annotations

from collections.abc import Sequence

from maxcode.code.cpp.declarations import Macro
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Token

OPAQUE = Token("\0", 0, 0, False)  # the replacement of a macro with several definitions


def expanded(unit: Unit, start: int, end: int) -> list[Token]:
    """The tokens of a range of bytes with macros replaced by their bodies; offsets are those of the use."""
    return _expand(unit.macros, list(unit.tokens_in(start, end)), frozenset())


def _expand(macros: dict[str, Macro], found: list[Token], hidden: frozenset[str]) -> list[Token]:
    result: list[Token] = []
    position = 0
    while position < len(found):
        token = found[position]
        position += 1
        macro = macros.get(token.text) if token.text not in hidden else None
        called = position < len(found) and found[position].text == "("
        if macro is None or (macro.params is not None and not called):
            result.append(token)
            continue
        body = [part._replace(start=token.start, end=token.end, directive=False) for part in macro.body]
        if macro.params is not None:
            close = _closing(found, position)
            body = _bound(body, macro.params, split(found[position + 1 : close]))
            position = close + 1
        result += [OPAQUE] if not macro.clear else _expand(macros, body, hidden | {token.text})
    return result


def _bound(body: list[Token], params: tuple[str, ...], arguments: list[list[Token]]) -> list[Token]:
    given = dict(zip(params, arguments, strict=False))
    if params and params[-1] == "...":
        given["__VA_ARGS__"] = [token for part in arguments[len(params) - 1 :] for token in part]
    return [token for part in body for token in given.get(part.text, [part])]


def _closing(found: list[Token], opening: int) -> int:
    """The position that closes the bracket at ``opening``; the end if nothing closes it."""
    depth = 0
    for position in range(opening, len(found)):
        depth += found[position].text in "([{"
        depth -= found[position].text in ")]}"
        if depth == 0:
            return position
    return len(found)


def split(found: Sequence[Token]) -> list[list[Token]]:
    """Splits tokens at top-level commas."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found:
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
