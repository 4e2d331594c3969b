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
from maxcode.code.cpp.declarations import Function, ancestor
from maxcode.code.cpp.edit import Change, Edit, Rule, Value
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import PURE
from maxcode.code.polyhedral.polynomials import polynomial
from maxcode.code.source import Patch
from maxcode.policy.rules.kernels.effects import elements
from maxcode.policy.rules.kernels.extrema import with_extrema
from maxcode.policy.rules.kernels.macro_uses import counts_down_in_macro, loose_macros, pure_macros, without_macros
from maxcode.policy.rules.kernels.names import declared_in, hides_access, of_other_types, reals
from maxcode.policy.rules.kernels.nest import (
    SPELLED,
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    Path,
    every,
    loops,
    printed,
    words_in,
    words_of_head,
)
from maxcode.policy.rules.kernels.reading import exchanged_sum, read

_KINDS = {
    "logical": r"bool|_Bool",
    "integer": r"int|long|short|char|unsigned|signed|size_t|ptrdiff_t|u?int\d+_t",
    "real": "double|float",
}
_UP_TO = r"(?:[\s*&>]|const\b|restrict\b|__restrict\b|\w+\s*(?:\[[^\]]*\])?\s*(?:=[^,;]*)?,)*"  # to a name of a list
OF_A_STEP = " /* of a step */"  # behind a constant: what uses it computes the same with another value
Constants = Sequence[tuple[str, int]]
_SIGNED = ("int", "long", "ptrdiff_t", "const int")
_NUMBERS = ("double", "float", "int", "long")
_SHARES = re.compile(r"\b(?:omp|acc|ivdep)\b")
_INTS = ("int", "const int", "short", "const short", "char", "const char")  # a comparison changes none of them


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
        """Whether threads or vectors share it; the memory that a step adds is for one iteration at a time."""
        return any(_SHARES.search(line) for loop in (*self.above, self.loop) for line in loop.pragmas)


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

    def is_double_number(self, name: str) -> bool:
        """Whether a name is only declared as a scalar double, as a parameter or inside the function."""
        kinds = [(one.form, one.type) for one in declared_in(self.unit, self.function) if one.name == name]
        kinds += [(one.kind, one.type) for one in self.function.parameters if one.name == name]
        return bool(kinds) and all(kind in (("value", "double"), ("plain", "double")) for kind in kinds)

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
        named = "".join(f"enum {{ {name} = {value} }};{OF_A_STEP}\n" for name, value in constants)
        patches = [Patch(self.function.body.start_byte, self.function.body.end_byte, f"{{\n{printed(body)}}}")]
        if named:
            while node.parent is not None and node.parent.type in ("template_declaration", "linkage_specification"):
                node = node.parent
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
    plain = (one for one in named if _is_plain(unit, one) and not is_given_one_array_twice(unit, one))
    read_in = ((one, read(one.body, PURE | pure_macros(unit, one))) for one in plain)
    whole = ((one, without_macros(unit, one, body)) for one, body in read_in if not _is_bound_loosely(unit, body))
    clear = ((one, body) for one, body in whole if any(True for _ in loops(body)) and not hides_access(unit, one, body))
    return tuple(Kernel(unit, one, _in_one_form(unit, one, body)) for one, body in clear)


def _in_one_form(unit: Unit, function: Function, body: Body) -> Body:
    """The items with casts where a number loses its fraction, sums that are exact, and extrema of whole numbers."""
    exact = _exact(unit, _whole_numbers(body, reals(unit, function)), of_other_types(unit, function))
    ints = _ints(unit, function)
    arrays = {one.name for one in function.parameters if one.kind == "pointer" and one.type == "int"} & ints
    if not arrays:
        return exact
    return with_extrema(exact, arrays, lambda item: _is_made_of(re.sub(r"\[[^\[\]]*\]", "", item.value), ints))


def _is_made_of(value: str, ints: frozenset[str]) -> bool:
    return "." not in value and words_in(value) <= ints


def _ints(unit: Unit, function: Function) -> frozenset[str]:
    """The parameters and variables of a function that hold ints, or what becomes one in arithmetic."""
    kinds = [(one.name, one.type) for one in declared_in(unit, function)]
    kinds += [(one.name, one.type) for one in function.parameters]
    others = {name for name, kind in kinds if unit.resolve(kind) not in _INTS}
    return frozenset(name for name, _ in kinds if name not in others)


def _is_plain(unit: Unit, function: Function) -> bool:
    """Whether a function is read as it is: without what the grammar leaves out, such as a macro for the head of a loop,
    without labels, without names that are operators in C++, and without the variables of a function around it."""
    body, is_inside = function.body, ancestor(function.node, "function_definition") is not None
    if is_inside or body.has_error or _jumps(body) or counts_down_in_macro(unit, function):
        return False
    own = unit.language == "c" and not SPELLED.isdisjoint(unit.words)
    return not own or not any(one.text in SPELLED for one in unit.tokens_in(body.start_byte, body.end_byte))


def _is_bound_loosely(unit: Unit, body: Body) -> bool:
    """Whether a macro in the head of a loop may end as another value beside a sum: ``n >> 1``."""
    loose = loose_macros(unit)
    heads = (words_of_head(item) for item in every(body) if isinstance(item, Loop))
    return bool(loose) and any(words & loose for words in heads)


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
        case Declare():
            return with_cast(item, given)
    return item


def with_cast(item: Declare, given: frozenset[str]) -> Declare:
    """A declaration with a cast where one of the numbers ``given``, which may have a fraction, becomes a whole one."""
    plain = item.type in ("double", "float", "const double") or not words_in(item.value) & given
    kind = item.type.removeprefix("const ")
    return item if plain or polynomial(item.value) is None else replace(item, value=f"({kind})({item.value})")


def _exact(unit: Unit, body: Body, unknown: frozenset[str]) -> Body:
    """The items with ``h = w + h`` as ``h += w`` for numbers, and with ``h += w`` as ``h = h + (w)`` where the order of
    the sums is not free: for an integer h and a w that may be none, as each sum is rounded, and for an h that may be no
    number, such as those ``unknown``."""
    return tuple(_exact_item(unit, item, unknown) for item in body)


def _exact_item(unit: Unit, item: Item, unknown: frozenset[str]) -> Item:
    match item:
        case Loop():
            return replace(item, body=_exact(unit, item.body, unknown))
        case Branch():
            sides = (_exact(unit, side, unknown) for side in (item.then, item.other))
            return Branch(item.test, *sides)
        case Assign(op="=" | "+=" | "-=") if elements(item.target) is not None:
            name = item.target.partition("[")[0]
            kinds = _kinds(unit, name) if name not in unknown else frozenset[str]()
            is_number = not kinds.isdisjoint(("integer", "real"))
            item = (exchanged_sum(item) if is_number else None) or item
            free = is_number and "logical" not in kinds and ("integer" not in kinds or _is_whole(unit, item))
            if item.op != "=" and not free:
                return Assign(item.target, "=", f"{item.target} {item.op[0]} ({item.value})")
    return item


def _is_whole(unit: Unit, item: Assign) -> bool:
    words = words_in(item.value)
    fraction = re.search(r"\.|\b\d\w*[eEpP]", item.value)
    return fraction is None and all(word.isdigit() or _kinds(unit, word) == {"integer"} for word in words)


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
