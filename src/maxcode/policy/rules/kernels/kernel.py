"""A function of numeric loops as the steps see it, and the edit of the text for a changed body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import final

from tree_sitter import Node

from maxcode.code.cpp.aliases import is_given_one_array_twice
from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.edit import Change, Edit, Rule, Value
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import PURE
from maxcode.code.polyhedral.polynomials import polynomial
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.extrema import with_extrema
from maxcode.policy.rules.kernels.macro_uses import pure_macros, without_macros
from maxcode.policy.rules.kernels.names import hides_access, reals
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    Path,
    every,
    is_shared,
    loops,
    printed,
    words_in,
)
from maxcode.policy.rules.kernels.reading import read

_KINDS = {
    "logical": r"bool|_Bool",
    "integer": r"int|long|short|char|unsigned|signed|size_t|ptrdiff_t|u?int\d+_t",
    "real": "double|float",
}
_UP_TO = r"(?:[\s*&>]|const\b|restrict\b|__restrict\b|\w+\s*(?:\[[^\]]*\])?\s*(?:=[^,;]*)?,)*"  # to a name of a list
Constants = Sequence[tuple[str, int]]
_SIGNED = ("int", "long", "ptrdiff_t", "const int")
_NUMBERS = ("double", "float", "int", "long")
_WIDER = {
    "unsigned",
    "long",
    "bool",
    "_Bool",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    *(f"int{k}_t" for k in (8, 16, 32, 64)),
}
_WIDER |= {f"u{name}" for name in _WIDER if name.startswith("int")}  # compared with an int, one of both changes


@final
@dataclass(frozen=True, slots=True)
class Step:
    """A kind of step, and the techniques it introduces; it is used only if all of them are permitted."""

    rule: Rule
    techniques: frozenset[str]


@final
@dataclass(frozen=True, slots=True)
class Spot:
    """A loop of a kernel: its place, the loops around it, and its name in labels (``j in gemm``, ``j#2 in f``)."""

    path: Path
    loop: Loop
    above: tuple[Loop, ...]
    name: str

    @property
    def shared(self) -> bool:
        """Whether threads share it; the templates cannot be called by several threads at once."""
        return any(map(is_shared, (*self.above, self.loop)))


@final
@dataclass(frozen=True, slots=True)
class Kernel:
    """A parsed function with loops."""

    unit: Unit
    function: Function
    body: Body

    @property
    def spots(self) -> list[Spot]:
        """Its loops in the order of the text."""
        seen: dict[str, int] = {}
        found = []
        for path, loop, above in loops(self.body):
            seen[loop.var] = seen.get(loop.var, 0) + 1
            count = f"#{seen[loop.var]}" if seen[loop.var] > 1 else ""
            found.append(Spot(path, loop, above, f"{loop.var}{count} in {self.function.name}"))
        return found

    def is_signed(self, *bounds: str) -> bool:
        """Whether all declarations of the names in bounds are signed: minus a small number, they may be negative."""
        types: dict[str, set[str]] = {}
        for one in self.function.parameters:
            types.setdefault(one.name, set()).add(one.type if one.kind == "value" else one.kind)
        for item in every(self.body):
            if isinstance(item, Declare | Loop):
                types.setdefault(item.name if isinstance(item, Declare) else item.var, set()).add(item.type)
        plain = all(polynomial(bound) is not None for bound in bounds)
        words = {word for bound in bounds for word in words_in(bound)}
        return plain and all(word in types and types[word] <= set(_SIGNED) for word in words)

    def counts_signed(self, *loops: Loop) -> bool:
        """Whether variables and bounds of loops are signed, so that a loop up to a negative number has no iteration."""
        return all(loop.type in _SIGNED and self.is_signed(loop.low, loop.high) for loop in loops)

    def is_double(self, *arrays: str) -> bool:
        """Whether arrays hold doubles: pointers from parameters or made here."""
        given = {one.name for one in self.function.parameters if one.kind == "pointer" and one.type == "double"}
        made = (re.match(r"(?:const )?double \*(?:restrict |__restrict )?(\w+) = ", text) for text in self._others)
        return set(arrays) <= given | {found[1] for found in made if found is not None}

    def type_of_elements(self, array: str) -> str:
        """The type of the numbers that an array holds; empty if it is not known."""
        given = {one.name: one.type for one in self.function.parameters if one.kind == "pointer"}
        kind = "double" if self.is_double(array) else given.get(array, "")
        return kind if kind in _NUMBERS else ""

    def is_local_double(self, name: str) -> bool:
        """Whether a name is only declared as a scalar double, inside the function."""
        local = {item.type for item in every(self.body) if isinstance(item, Declare) and item.name == name}
        made = any(re.fullmatch(rf"double (\w+ ?, ?)*{name}( ?, ?\w+)*;", text) for text in self._others)
        return local == {"double"} or (made and not local)

    @property
    def _others(self) -> list[str]:
        return [item.text for item in self.body if isinstance(item, Other)]

    def fresh(self, wish: str, given: Collection[str] = ()) -> str:
        """A name that the program does not use and that was not given before: the wish, or the wish and a number."""
        taken = self.unit.words.union(given)
        return wish if wish not in taken else next(name for k in count(2) if (name := f"{wish}_{k}") not in taken)

    def change(self, body: Body, constants: Constants = (), blocks: Iterable[str] = ()) -> Change:
        """The change that gives the function another body, with constants in front of it and blocks at the top of the
        file."""
        node = self.function.node
        named = "".join(f"enum {{ {name} = {value} }};\n" for name, value in constants)
        patches = [Patch(self.function.body.start_byte, self.function.body.end_byte, f"{{\n{printed(body)}}}")]
        if named:
            patches.append(Patch(node.start_byte, node.start_byte, named))
        patches += [Patch(self.unit.prelude, self.unit.prelude, f"\n{block.strip()}\n") for block in blocks]
        return Change(tuple(patches))

    def edit(self, rule: str, spot: str, params: Sequence[tuple[str, Value]], what: str, change: Change) -> Edit:
        """An edit of this kernel; ``spot`` names the place, the lines are those of the function."""
        return Edit(rule, spot, tuple(params), what, self.unit.lines_of(self.function.node), change)


@lru_cache(maxsize=8)
def kernels(unit: Unit) -> tuple[Kernel, ...]:
    """The functions of a program that hold loops; cached, because all steps need them one after another."""
    named = (function for function in unit.functions if not function.method and function.name != "main")
    plain = (one for one in named if not _jumps(one.body) and not is_given_one_array_twice(unit, one))
    read_in = ((one, without_macros(unit, one, read(one.body, PURE | pure_macros(unit, one)))) for one in plain)
    clear = (
        (one, body) for one, body in read_in if any(True for _ in loops(body)) and not hides_access(unit, one, body)
    )
    return tuple(Kernel(unit, one, _in_one_form(unit, one, body)) for one, body in clear)


def _in_one_form(unit: Unit, function: Function, body: Body) -> Body:
    """The items with casts where a number loses its fraction, sums that are exact, and extrema of whole numbers."""
    exact = _exact(unit, _whole_numbers(body, reals(unit, function)))
    if unit.words & _WIDER or not unit.words & {"int"}:
        return exact
    arrays = {one.name for one in function.parameters if one.kind == "pointer" and one.type == "int"}
    return with_extrema(exact, arrays, lambda item: _is_whole(unit, item))


def _jumps(body: Node) -> bool:
    """Whether a function has labels: a copy of one is another label of that name, and a jump may pass what is new."""
    return body.type == "labeled_statement" or any(map(_jumps, body.named_children))


def _whole_numbers(body: Body, given: frozenset[str]) -> Body:
    """The items with casts where a number that may have a fraction becomes a whole one: ``int k = i * s`` is no
    multiple of s."""
    return tuple(_whole_number(item, given) for item in body) if given else body


def _whole_number(item: Item, given: frozenset[str]) -> Item:
    match item:
        case Loop():
            low = f"({item.type})({item.low})" if words_in(item.low) & given else item.low
            high = f"{item.high} + 0.0" if words_in(item.high) & given else item.high
            return replace(item, low=low, high=high, body=_whole_numbers(item.body, given))
        case Branch():
            return replace(item, then=_whole_numbers(item.then, given), other=_whole_numbers(item.other, given))
        case Declare() if item.type not in ("double", "float", "const double") and words_in(item.value) & given:
            kind = item.type.removeprefix("const ")
            return item if polynomial(item.value) is None else replace(item, value=f"({kind})({item.value})")
    return item


def _exact(unit: Unit, body: Body) -> Body:
    """The items with ``h += w`` as ``h = h + (w)`` where the order of the sums is not free: for an integer h and a w
    that may be none, as each sum is rounded, and for an h that may be no number."""
    return tuple(_exact_item(unit, item) for item in body)


def _exact_item(unit: Unit, item: Item) -> Item:
    match item:
        case Loop():
            return replace(item, body=_exact(unit, item.body))
        case Branch():
            return replace(item, then=_exact(unit, item.then), other=_exact(unit, item.other))
        case Assign(op="+=" | "-=") if not re.search(r"\+\+|--|\(", item.target):
            kinds = _kinds(unit, item.target.partition("[")[0])
            if (
                not kinds & {"integer", "real"}
                or "logical" in kinds
                or ("integer" in kinds and not _is_whole(unit, item))
            ):
                return Assign(item.target, "=", f"{item.target} {item.op[0]} ({item.value})")
    return item


def _is_whole(unit: Unit, item: Assign) -> bool:
    words = words_in(item.value)
    return "." not in item.value and all(word.isdigit() or _kinds(unit, word) == {"integer"} for word in words)


@lru_cache(maxsize=1 << 10)
def _kinds(unit: Unit, name: str) -> frozenset[str]:
    """Of which kinds of numbers the declarations of a name in a program are; those in a template do not count."""
    text = _own_text(unit)
    found = {kind for kind, types in _types(unit).items() if re.search(rf"\b(?:{types})\b{_UP_TO}\b{name}\b", text)}
    return frozenset(found)


@lru_cache(maxsize=8)
def _own_text(unit: Unit) -> str:
    """The text of a program without what steps put at its top."""
    ends = [0, *(end for both in unit.runtime for end in both), len(unit.data)]
    return "".join(unit.between(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True))


@lru_cache(maxsize=8)
def _types(unit: Unit) -> dict[str, str]:
    """The names of the types of each kind of numbers."""
    own = {name: set(re.findall(r"\w+", unit.resolve(name))) for name in unit.aliases}
    return {
        kind: "|".join([types, *(name for name, words in own.items() if words & set(re.findall(r"\w+", types)))])
        for kind, types in _KINDS.items()
    }
