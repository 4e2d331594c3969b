"""Reads the body of a function into loops, declarations, assignments and branches.

A loop that counts down is read as one that counts up, and ``x = x + y`` as ``x += y``.  Comments are lost.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tree_sitter import Node

from maxcode.code.cpp.words import PURE
from maxcode.code.source import text_of, walk
from maxcode.policy.rules.kernels.effects import elements, sides
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    changed,
    every,
    lexed,
    substituted,
    words_in,
)

_NUMBERS = frozenset({"int", "long", "size_t", "double", "float", "unsigned", "ptrdiff_t", "const double", "const int"})

_TOLD = re.compile(r"\b(?:collapse|ordered)\b")  # pragmas about more than the loop below them, which stays as it is
_MORE = ("storage_class_specifier", "attribute_specifier", "attribute_declaration", "ms_declspec_modifier")
_ALONE = re.compile(  # directives about no loop
    r"#(?!\s*pragma\b)|#\s*pragma\s+(?:omp\s+(?:barrier|task(?:wait|yield)|flush|cancel\w*|depobj|error|interop|scan"
    r"|target\s+(?:update|enter|exit))|acc\s+(?:wait|update|enter|exit|init|set|shutdown)|pack|STDC|message|p\w+_macro"
    r"|GCC\s+(?:diagnostic|push_options|pop_options|optimize|target|poison|warning|error))\b"
)
_WHOLE = re.compile(r"\babs ?(?=\()|\. ?(?:size|length) ?\( ?\)|\(int\) ?\w+ ?\([^()]*\)")


def read(body: Node, pure: frozenset[str] = PURE) -> Body:
    """The items of a ``{...}`` node; ``pure``: functions and macros that only compute a value."""
    found: list[Item] = []
    pragmas: list[str] = []
    for child in body.named_children:
        if child.type == "comment":
            continue
        if child.type == "preproc_call":
            pragmas.append(_flat(text_of(child)))
            if _ALONE.match(pragmas[-1]):
                found, pragmas = [*found, *map(Other, pragmas)], []
            continue
        told = any(_TOLD.search(line) for line in pragmas)
        items = (Other(text_of(child)),) if told else _items(child, pure)
        if pragmas and items and isinstance(items[0], Loop):
            items = (replace(items[0], pragmas=tuple(pragmas)), *items[1:])
        elif pragmas:
            items = (*(Other(line) for line in pragmas), *items)
        pragmas = []
        found += items
    return (*found, *map(Other, pragmas))


def _flat(text: str) -> str:
    """The text in one line, with no blank before an index; as it is if it has literals, whose blanks count."""
    if re.search("[\"']", text):
        return text
    return re.sub(r"(?<=\w) \[", "[", " ".join(text.replace("\\\n", " ").split()))


def _text(node: Node) -> str:
    """The text of a node in one line, without comments: the first of two slashes would take the rest along."""
    comments = [one for one in walk(node) if one.type == "comment"] if "/" in (text := text_of(node)) else []
    data, pieces, position = text.encode("utf-8", "surrogateescape"), list[bytes](), 0
    for one in comments:
        pieces.append(data[position : one.start_byte - node.start_byte])
        position = one.end_byte - node.start_byte
    whole = b" ".join([*pieces, data[position:]])
    return _flat(whole.decode("utf-8", "surrogateescape"))


def _items(node: Node, pure: frozenset[str]) -> tuple[Item, ...]:
    made: tuple[Item, ...] | None = None
    if node.type == "for_statement":
        loop = _loop(node, pure)
        made = (loop,) if loop is not None else None
    elif node.type == "declaration":
        made = _declarations(node)
    elif node.type == "expression_statement":
        made = _assignment(node)
    elif node.type == "if_statement":
        made = _branch(node, pure)
    return made if made is not None else (Other(text_of(node)),)


def _block(node: Node, pure: frozenset[str]) -> Body:
    return read(node, pure) if node.type == "compound_statement" else _items(node, pure)


def _loop(node: Node, pure: frozenset[str]) -> Loop | None:
    head = [node.child_by_field_name(name) for name in ("initializer", "condition", "update", "body")]
    if any(part is None for part in head):
        return None
    made, test, update, body = (part for part in head if part is not None)
    first = re.fullmatch(r"(int|long|size_t|ptrdiff_t) (\w+) ?= ?(.+);", _text(made))
    if first is None or "," in first[3]:
        return None
    var = first[2]
    stop = re.fullmatch(rf"{var} ?([<>]=?) ?(.+)", _text(test)) if _is_comparison(test, var) else None
    move = re.fullmatch(rf"(?:{var} ?(\+\+|--)|(\+\+|--) ?{var}|{var} ?\+= ?(\w+))", _text(update))
    if stop is None or move is None or re.search(r"&&|\|\||,|==|!=", stop[2]):
        return None
    if var in words_in(f"{first[3]} {stop[2]} {move[3] or ''}"):
        return None  # its end moves with it
    if "=" in stop[1] and _has_fraction(stop[2], node):
        return None  # up to 2.5 is not below 3.5
    low = _closed(first[3])
    if (stop[1][0] == ">") != ("--" in move.groups()):
        return None
    if stop[1][0] == ">":
        downwards = Loop(var, low, stop[2], "1", _block(body, pure), type=first[1])
        return _mirrored(downwards, stop[1], node, pure)
    high = _closed(stop[2]) if stop[1] == "<" else _one_more(stop[2])
    if high is None:
        return None
    return Loop(var, low, high, move[3] or "1", _block(body, pure), type=first[1])


def _has_fraction(bound: str, node: Node) -> bool:
    """Whether a bound may be between two whole numbers: a call, a constant with a point, a name of such a type."""
    inside = ""
    while node.parent is not None:
        node = node.parent
        inside = text_of(node) if node.type == "function_definition" else inside
    text = text_of(node)
    own = re.findall(r"\btypedef\s+(?:double|float)\s+(\w+)|\bdefine\s+(\w+)\s+(?:double|float)\b", text)
    made = re.findall(r"\b(?:typename|class)\s+(\w+)\s*[,>=]", text)  # parameters of templates
    kinds = "|".join(["double", "float", "auto", *made, *(one or other for one, other in own)])
    between = r"\b(?:[\s*&>]|const\b|\w+\s*(?:\[[^\]]*\])?\s*(?:=[^,;]*)?,)*"  # a type and a name of its list
    bound = _WHOLE.sub("", _with_macros(bound, text))
    if "." in bound or re.search(r"\w ?\(|\b\d+[eE]", bound):
        return True
    for name in (word for word in words_in(bound) if not word.isdigit()):
        own_name = re.search(rf"\b(?:int|long|size_t|ptrdiff_t|unsigned|short){between}\b{name}\b", inside)
        if re.search(rf"\b(?:{kinds}){between}\b{name}\b", inside if own_name else text):
            return True
    return False


def _with_macros(bound: str, text: str) -> str:
    """A bound with what the macros in it stand for behind it."""
    found, waiting = [bound], list(words_in(bound))
    for name in waiting:  # it grows
        made = re.search(rf"^[ \t]*#[ \t]*define[ \t]+{name}\b(?:\([^)\n]*\))?((?:[^\n\\]|\\.)*)", text, re.M | re.S)
        if made is not None:
            found.append(made[1])
            waiting += words_in(made[1]) - set(waiting)
    return " ; ".join(found)


def _closed(bound: str) -> str:
    """A bound that may stand in a comparison: in brackets if an operator in it binds no more."""
    depth = 0
    for token in lexed(bound):
        depth += (token.text in "([") - (token.text in ")]")
        if depth == 0 and token.text not in ("<<", ">>") and token.text[0] in "<>=!&|^?:":
            return f"({bound})"
    return bound


def _is_comparison(test: Node, var: str) -> bool:
    """Whether a test compares a variable with all that follows, and is not part of it: ``i < n & m`` is ``(i < n) &
    m``."""
    left = test.child_by_field_name("left")
    return test.type == "binary_expression" and left is not None and text_of(left) == var


def _mirrored(loop: Loop, compare: str, node: Node, pure: frozenset[str]) -> Loop | None:
    """A loop that counts down from ``low`` to ``high``, as one that counts up and uses the distance from the other end;
    None if something in it may change the variable or an end, or if an end may be unsigned: it is written elsewhere."""
    first, last = _one_more(loop.low), loop.high if compare == ">=" else _one_more(loop.high)
    inside = list(every(loop.body))
    names = [item.target.partition("[")[0] for item in inside if isinstance(item, Assign)]
    names += [item.name for item in inside if isinstance(item, Declare)]
    names += [item.var for item in inside if isinstance(item, Loop)]
    hidden = any(elements(text, pure) is None for item in inside for text, _ in sides(item))
    opaque = hidden or any(isinstance(item, Other) for item in inside) or loop.type == "size_t" or loop.var in names
    if opaque or first is None or last is None or not all(re.fullmatch(r"[\w +-]+", end) for end in (first, last)):
        return None
    ends = words_in(loop.low) | words_in(loop.high)
    if ends & set(names) or not all(_is_signed(end, node) for end in ends if not end.isdigit()):
        return None
    value = f"{loop.low} + {last} - {loop.var}" if last != "0" else f"{loop.low} - {loop.var}"
    body = changed(loop.body, lambda text: substituted(text, {loop.var: value}))
    return replace(loop, low=last, high=first, body=body)


def _is_signed(name: str, node: Node) -> bool:
    """Whether the function around a node declares a name as a signed integer, and only so."""
    while node.type != "function_definition" and node.parent is not None:
        node = node.parent
    text = _flat(text_of(node))
    listed = r"(?: ?=[^,;]*)?(?:, ?[\w*]+(?: ?=[^,;]*)?)*, ?"  # up to a later name of one declaration
    unsigned = re.search(rf"\b(?:unsigned|u?size_t|uint\w*)\b(?:[\w ]* |[\w *]*{listed}){name}\b", text)
    return unsigned is None and re.search(rf"\b(?:int|long|ptrdiff_t) (?:\w+ ?, ?)*{name}\b", text) is not None


def _one_more(bound: str) -> str | None:
    """The bound of ``<`` that is equal to a bound of ``<=``; None if that contains a comparison.  A bound that
    is the largest number of its type is not expected: a loop of that type would not end."""
    if re.search(r"(?<![<>-])[<>](?![<>])|\?", bound):
        return None
    last = re.fullmatch(r"(.*[\w\])]) ?([+-]) ?(0|[1-9]\d*)", bound)  # not the octal 010
    if last is None or not re.fullmatch(r"[\w \-+*/%()\[\].]+", bound):
        return f"{bound} + 1" if re.fullmatch(r"\w+", bound) else f"({bound}) + 1"
    number = int(last[2] + last[3]) + 1
    return last[1].strip() if not number else f"{last[1].strip()} {'+' if number > 0 else '-'} {abs(number)}"


def _declarations(node: Node) -> tuple[Item, ...] | None:
    kind = node.child_by_field_name("type")
    qualified = [text_of(child) for child in node.children if child.type == "type_qualifier"]
    if any(child.type in _MORE for child in node.children):
        return None  # a static one keeps its value from call to call
    named = " ".join([*qualified, _flat(text_of(kind))]) if kind is not None else ""
    found: list[Item] = []
    for child in node.children_by_field_name("declarator"):
        name, value = child.child_by_field_name("declarator"), child.child_by_field_name("value")
        plain = child.type == "init_declarator" and name is not None and name.type == "identifier"
        if not plain or name is None or value is None or named not in _NUMBERS or value.type == "initializer_list":
            return None
        found.append(Declare(named, text_of(name), _text(value)))
    return tuple(found)


def _assignment(node: Node) -> tuple[Item, ...] | None:
    inside = node.named_children[0] if node.named_children else None
    if inside is None or inside.type != "assignment_expression":
        return None
    left, right = inside.child_by_field_name("left"), inside.child_by_field_name("right")
    op = inside.child_by_field_name("operator")
    if left is None or right is None or op is None or left.type not in ("identifier", "subscript_expression"):
        return None
    return (summed(Assign(_text(left), text_of(op), _text(right))),)


def summed(item: Assign) -> Assign:
    """``x = x + y`` as ``x += y``, ``x = x - y`` as ``x -= y``; anything else as it is."""
    left, sign, right = _terms(item)
    return Assign(left, f"{sign}=", right) if left == item.target else item


def exchanged_sum(item: Assign) -> Assign | None:
    """``x = y + x`` as ``x += y``, which it is for numbers, but not for strings; None for anything else."""
    left, sign, right = _terms(item)
    return Assign(right, "+=", left) if (sign, right) == ("+", item.target) else None


def _terms(item: Assign) -> tuple[str, str, str]:
    """The two terms of the sum that is assigned and its sign; empty for anything else, and where the target calls
    something, which would be called once instead of twice."""
    parts = _two_terms(item.value) if item.op == "=" and elements(item.target) is not None else None
    return parts or ("", "", "")


def _two_terms(text: str) -> tuple[str, str, str] | None:
    """The left side, the sign and the right side of a sum of two terms."""
    depth, found, before = 0, [], ""
    for token in lexed(text):
        depth += (token.text in "([") - (token.text in ")]")
        if depth == 0 and before and token.text in "+-" and (before in ")]" or re.match(r"\w", before)):
            found.append(token)
        elif depth == 0 and token.text not in "()[]*/." and not re.match(r"[\w.]", token.text):
            return None
        before = token.text
    if len(found) != 1:
        return None
    data = text.encode("utf-8", "surrogateescape")
    left, right = (data[a:b].decode("utf-8", "surrogateescape") for a, b in ((0, found[0].start), (found[0].end, None)))
    return left.strip(), found[0].text, right.strip()


def _branch(node: Node, pure: frozenset[str]) -> tuple[Item, ...] | None:
    test, then = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    other = node.child_by_field_name("alternative")
    if test is None or then is None:
        return None
    inside = other.named_children[-1] if other is not None and other.type == "else_clause" else other
    text = _text(test)
    return (Branch(text[1:-1].strip(), _block(then, pure), _block(inside, pure) if inside is not None else ()),)
