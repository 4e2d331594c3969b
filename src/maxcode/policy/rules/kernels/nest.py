"""Loop nests as values: parses the body of a function into loops, declarations, assignments and branches, and prints
it.

Any other statement is kept unchanged (``Other``), and nothing is moved across it.  Comments inside a printed body are
lost.  Expressions stay text; ``effects.py`` reads them where necessary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias, final

from tree_sitter import Node

from maxcode.code.source import Token, text_of, tokens

_NUMBERS = frozenset({"int", "long", "size_t", "double", "float", "unsigned", "ptrdiff_t", "const double", "const int"})


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
    """``target op value;`` where ``op`` is ``=`` or a compound assignment."""

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


Item: TypeAlias = Loop | Declare | Assign | Branch | Other
Body: TypeAlias = tuple[Item, ...]
Path: TypeAlias = tuple[int, ...]  # position, then side (0, or 1 for an else) and position for each level below


# ----------------------------------------------------------------------------------------------------------- reading


def read(body: Node) -> Body:
    """The items of a ``{...}`` node."""
    found: list[Item] = []
    pragmas: list[str] = []
    for child in body.named_children:
        if child.type == "comment":
            continue
        if child.type == "preproc_call":
            pragmas.append(_flat(text_of(child)))
            continue
        items = _items(child)
        if pragmas and items and isinstance(items[0], Loop):
            items = (replace(items[0], pragmas=tuple(pragmas)), *items[1:])
        elif pragmas:
            items = (*(Other(line) for line in pragmas), *items)
        pragmas = []
        found += items
    return tuple(found)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _items(node: Node) -> tuple[Item, ...]:
    made: tuple[Item, ...] | None = None
    if node.type == "for_statement":
        loop = _loop(node)
        made = (loop,) if loop is not None else None
    elif node.type == "declaration":
        made = _declarations(node)
    elif node.type == "expression_statement":
        made = _assignment(node)
    elif node.type == "if_statement":
        made = _branch(node)
    return made if made is not None else (Other(text_of(node)),)


def _block(node: Node) -> Body:
    return read(node) if node.type == "compound_statement" else _items(node)


def _loop(node: Node) -> Loop | None:
    head = [node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")]
    if any(part is None for part in head):
        return None
    made, test, update, body = (part for part in head if part is not None)
    first = re.fullmatch(r"(int|long|size_t|ptrdiff_t) (\w+) = (.+);", _flat(text_of(made)))
    if first is None or "," in first[3]:
        return None
    var = first[2]
    stop = re.fullmatch(rf"{var} (<=?) (.+)", _flat(text_of(test)))
    move = re.fullmatch(rf"(?:{var} ?\+\+|\+\+ ?{var}|{var} \+= (\w+))", _flat(text_of(update)))
    if stop is None or move is None or re.search(r"&&|\|\||,|==|!=", stop[2]):
        return None
    high = stop[2] if stop[1] == "<" else _one_more(stop[2])
    if high is None:
        return None
    return Loop(var, first[3], high, move[1] or "1", _block(body), type=first[1])


def _one_more(bound: str) -> str | None:
    """The bound of ``<`` that is equal to a bound of ``<=``; None if that contains a comparison.  Adding one cannot
    overflow: a loop up to the largest number of its type would not end."""
    if re.search(r"(?<![<>-])[<>](?![<>])|\?", bound):
        return None
    last = re.fullmatch(r"(.*[\w\])]) ?([+-]) ?(\d+)", bound)
    if last is None or not re.fullmatch(r"[\w \-+*/%()\[\].]+", bound):
        return f"{bound} + 1" if re.fullmatch(r"\w+", bound) else f"({bound}) + 1"
    number = int(last[2] + last[3]) + 1
    return last[1].strip() if not number else f"{last[1].strip()} {'+' if number > 0 else '-'} {abs(number)}"


def _declarations(node: Node) -> tuple[Item, ...] | None:
    kind = node.child_by_field_name("type")
    qualified = [text_of(child) for child in node.children if child.type == "type_qualifier"]
    named = " ".join([*qualified, _flat(text_of(kind))]) if kind is not None else ""
    found: list[Item] = []
    for child in node.children_by_field_name("declarator"):
        name, value = child.child_by_field_name("declarator"), child.child_by_field_name("value")
        plain = child.type == "init_declarator" and name is not None and name.type == "identifier"
        if not plain or name is None or value is None or named not in _NUMBERS or value.type == "initializer_list":
            return None
        found.append(Declare(named, text_of(name), _flat(text_of(value))))
    return tuple(found)


def _assignment(node: Node) -> tuple[Item, ...] | None:
    inside = node.named_children[0] if node.named_children else None
    if inside is None or inside.type != "assignment_expression":
        return None
    left, right = inside.child_by_field_name("left"), inside.child_by_field_name("right")
    op = inside.child_by_field_name("operator")
    if left is None or right is None or op is None or left.type not in ("identifier", "subscript_expression"):
        return None
    return (Assign(_flat(text_of(left)), text_of(op), _flat(text_of(right))),)


def _branch(node: Node) -> tuple[Item, ...] | None:
    test, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    if test is None or then is None:
        return None
    inside = other.named_children[-1] if other is not None and other.type == "else_clause" else other
    text = _flat(text_of(test))
    return (Branch(text[1:-1].strip(), _block(then), _block(inside) if inside is not None else ()),)


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


def renamed(loop: Loop, var: str) -> Loop:
    """A loop with another variable."""
    return replace(loop, var=var, body=changed(loop.body, lambda text: substituted(text, {loop.var: var})))


def put(body: Body, path: Path, items: Sequence[Item]) -> Body:
    """The body with the item at ``path`` replaced by others."""
    position, *rest = path
    if rest:
        side, below = rest[0], tuple(rest[1:])
        items = (_with_side(body[position], side, put(children(body[position])[side], below, items)),)
    return (*body[:position], *items, *body[position + 1 :])


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
            return replace(item, low=change(item.low), high=change(item.high), body=changed(item.body, change))
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
    """The tokens of an expression; cached, because the same few expressions are needed many times."""
    return tuple(tokens(text))


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
