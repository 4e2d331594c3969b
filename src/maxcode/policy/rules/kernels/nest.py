"""Loop nests as values: loops, declarations, assignments and branches, and how they are printed, found and changed.

Any other statement is kept unchanged (``Other``), and nothing is moved across it.  Expressions stay text;
``effects.py`` reads them where necessary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias, final

from maxcode.code.source import Token, tokens


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """``for (type var = low; var < high; var += step)``; ``pragmas`` are on the lines before it."""

    var: str
    low: str
    high: str
    step: str
    body: tuple[Item, ...]
    pragmas: tuple[str, ...] = ()
    type: str = "int"


@final
@dataclass(frozen=True, slots=True)
class Declare:
    """``type name = value;`` of one number."""

    type: str
    name: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class Assign:
    """``target op value;`` where ``op`` is ``=`` or a compound assignment; ``max=`` and ``min=`` keep the greater or
    the lesser of the two."""

    target: str
    op: str
    value: str


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """``if (test) then else other``."""

    test: str
    then: tuple[Item, ...]
    other: tuple[Item, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Other:
    """Any other statement, unchanged."""

    text: str


_SPELLED = {"and": "&&", "or": "||", "not": "!", "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~"}
_SPELLED |= {"and_eq": "&=", "or_eq": "|=", "xor_eq": "^="}
SPELLED = frozenset(_SPELLED)  # operators that are words in C++

Item: TypeAlias = Loop | Declare | Assign | Branch | Other
Body: TypeAlias = tuple[Item, ...]
Path: TypeAlias = tuple[int, ...]  # position, then side (0, or 1 for an else) and position for each level below


# ---------------------------------------------------------------------------------------------------------- printing


def printed(body: Body, indent: str = "    ") -> str:
    """The items as text, one statement a line."""
    return "".join(_text(item, indent) for item in body)


def _text(item: Item, indent: str) -> str:
    deeper = indent + "    "
    match item:
        case Loop():
            pragmas = "".join(f"{line}\n" for line in item.pragmas)
            move = f"{item.var}++" if item.step == "1" else f"{item.var} += {item.step}"
            head = f"for ({item.type} {item.var} = {item.low}; {item.var} < {item.high}; {move})"
            return f"{pragmas}{indent}{head} {{\n{printed(item.body, deeper)}{indent}}}\n"
        case Declare():
            return f"{indent}{item.type} {item.name} = {item.value};\n"
        case Assign(op="max=" | "min="):
            kept = (greatest_of if item.op == "max=" else least_of)(item.target, item.value)
            return f"{indent}{item.target} = {kept};\n"
        case Assign():
            return f"{indent}{item.target} {item.op} {item.value};\n"
        case Branch():
            other = f" else {{\n{printed(item.other, deeper)}{indent}}}" if item.other else ""
            return f"{indent}if ({item.test}) {{\n{printed(item.then, deeper)}{indent}}}{other}\n"
        case Other():
            return f"{item.text}\n" if item.text.startswith("#") else f"{indent}{item.text}\n"


# -------------------------------------------------------------------------------------------------- finding, changing


def children(item: Item) -> tuple[Body, ...]:
    """The bodies inside an item; a branch has two."""
    if isinstance(item, Loop):
        return (item.body,)
    return (item.then, item.other) if isinstance(item, Branch) else ()


def loops(body: Body, above: tuple[Loop, ...] = (), path: Path = ()) -> Iterator[tuple[Path, Loop, tuple[Loop, ...]]]:
    """All loops: path, loop, and the loops around it, outermost first."""
    for position, item in enumerate(body):
        around = above
        if isinstance(item, Loop):
            yield (*path, position), item, above
            around = (*above, item)
        for side, inside in enumerate(children(item)):
            yield from loops(inside, around, (*path, position, side))


def every(body: Body) -> Iterator[Item]:
    """All items, at any depth."""
    for item in body:
        yield item
        for inside in children(item):
            yield from every(inside)


def hides(body: Body, around: frozenset[str] = frozenset()) -> bool:
    """Whether a declaration or a loop inside has a name that a block around it declares, too."""
    declared = around.union(item.name for item in body if isinstance(item, Declare))
    if any(isinstance(item, Declare) and item.name in around for item in body):
        return True
    inner = [(item, declared | {item.var} if isinstance(item, Loop) else declared) for item in body]
    again = any(isinstance(item, Loop) and item.var in declared for item in body)
    return again or any(hides(inside, names) for item, names in inner for inside in children(item))


def at(body: Body, path: Path) -> Item:
    """The item at a path."""
    position, *rest = path
    return at(children(body[position])[rest[0]], tuple(rest[1:])) if rest else body[position]


def after(body: Body, path: Path) -> Item | None:
    """The item after that at a path, in the same body; None if it is the last."""
    position, *rest = path
    if rest:
        return after(children(body[position])[rest[0]], tuple(rest[1:]))
    return body[position + 1] if position + 1 < len(body) else None


def exchanged_names(loop: Loop, var: str) -> Loop:
    """A loop with another variable, and that name for its own variable where loops inside have the other."""
    names = {loop.var: var, var: loop.var}

    def inside(body: Body) -> Body:
        return tuple(
            replace(one, var=names.get(one.var, one.var), body=inside(one.body))
            if isinstance(one, Loop)
            else replace(one, then=inside(one.then), other=inside(one.other))
            if isinstance(one, Branch)
            else one
            for one in body
        )

    return replace(loop, var=var, body=inside(changed(loop.body, lambda text: substituted(text, names))))


def put(body: Body, path: Path, items: Sequence[Item]) -> Body:
    """The body with the item at ``path`` replaced by others."""
    position, *rest = path
    if rest:
        side, below = rest[0], tuple(rest[1:])
        items = (_with_side(body[position], side, put(children(body[position])[side], below, items)),)
    return (*body[:position], *items, *body[position + 1 :])


def put_between(body: Body, path: Path, items: Sequence[Item], before: Sequence[Item], behind: Body = ()) -> Body:
    """The same, with other items before and behind the whole nest that the place is in."""
    made, start = put(body, path, items), path[0]
    end = start + 1 + len(made) - len(body)
    return (*made[:start], *before, *made[start:end], *behind, *made[end:])


def _with_side(item: Item, side: int, body: Body) -> Item:
    if isinstance(item, Branch):
        return replace(item, then=body) if side == 0 else replace(item, other=body)
    assert isinstance(item, Loop), "a path leads through loops and branches"
    return replace(item, body=body)


def changed(body: Body, change: Callable[[str], str]) -> Body:
    """The items with ``change`` applied to every expression; declared names stay."""
    return tuple(_changed(item, change) for item in body)


def _changed(item: Item, change: Callable[[str], str]) -> Item:
    match item:
        case Loop():
            low, high, step = (change(text) for text in (item.low, item.high, item.step))
            return replace(item, low=low, high=high, step=step, body=changed(item.body, change))
        case Declare():
            return replace(item, value=change(item.value))
        case Assign():
            return Assign(change(item.target), item.op, change(item.value))
        case Branch():
            return Branch(change(item.test), changed(item.then, change), changed(item.other, change))
        case Other():
            return Other(change(item.text))


def extremes(text: str, way: str) -> list[str]:
    """The values of which a bound is the least (``way`` "<") or the greatest (">"), as written by ``least_of``."""
    parts = _chosen(text)
    if parts is None or parts[1] != way:
        return [text]
    return [*extremes(parts[0], way), *extremes(parts[2], way)]


def least_of(one: str, other: str) -> str:
    """The lesser of two values, as an expression."""
    return f"({one} < {other} ? {one} : {other})"


def greatest_of(one: str, other: str) -> str:
    """The greater of two values, as an expression."""
    return f"({one} > {other} ? {one} : {other})"


def _chosen(text: str) -> tuple[str, str, str] | None:
    """(a, "<" or ">", b) of ``(a < b ? a : b)``."""
    cuts: dict[str, int] = {}
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and position < len(text) - 1:
            return None
        if depth == 1 and letter in "<>?:" and text[position - 1 : position + 2] == f" {letter} ":
            cuts.setdefault(letter if letter in "?:" else "way", position)
    if not text.startswith("(") or sorted(cuts) != [":", "?", "way"]:
        return None
    compare, question, colon = cuts["way"], cuts["?"], cuts[":"]
    one, other = text[1:compare].strip(), text[compare + 1 : question].strip()
    then, rest = text[question + 1 : colon].strip(), text[colon + 1 : -1].strip()
    return (one, text[compare], other) if (then, rest) == (one, other) else None


@lru_cache(maxsize=1 << 14)
def lexed(text: str) -> tuple[Token, ...]:
    """The tokens of an expression, operators as signs; cached, because the same few expressions are needed many
    times."""
    return tuple(token._replace(text=_SPELLED.get(token.text, token.text)) for token in tokens(text))


def substituted(text: str, names: dict[str, str]) -> str:
    """An expression with names replaced; a replacement longer than a name is put in brackets."""
    data = text.encode("utf-8", "surrogateescape")
    pieces: list[str] = []
    position = 0
    for token in lexed(text):
        if token.text in names:
            new = names[token.text]
            pieces.append(data[position : token.start].decode("utf-8", "surrogateescape"))
            pieces.append(new if re.fullmatch(r"\w+", new) or _is_element(new) else f"({new})")
            position = token.end
    return "".join(pieces) + data[position:].decode("utf-8", "surrogateescape")


def _is_element(text: str) -> bool:
    return re.fullmatch(r"\w+\[[^\[\]]*\]", text) is not None


def words_in(text: str) -> set[str]:
    """The names in an expression."""
    return {token.text for token in lexed(text) if token.is_word}


def is_shared(loop: Loop) -> bool:
    """Whether threads may share the iterations of a loop, also those that a caller starts."""
    return any(re.search(r"\b(?:omp\b(?! *simd\b)|acc\b)", line) for line in loop.pragmas)


def words_of_head(loop: Loop) -> set[str]:
    """The names in the ends and the step of a loop."""
    return words_in(f"{loop.low} {loop.high} {loop.step}")


def band_of(loop: Loop) -> tuple[list[Loop], Body]:
    """The loops of a perfect nest, outermost first, and what is inside."""
    band, core = [loop], loop.body
    while len(core) == 1 and isinstance(core[0], Loop):
        band.append(core[0])
        core = core[0].body
    return band, core
