"""Whether the names in a function mean what their text says; functions where they may not are left alone.

C lets a name hide an access: it may be a second name for an array, a macro, memory that others change, an object whose
``[]`` is a function, or a function that is pure elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, product

from maxcode.code.cpp.declarations import Function, Variable
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.points_to import meet, reached
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.watched import is_watched
from maxcode.code.cpp.words import PURE
from maxcode.code.source import text_of, walk
from maxcode.policy.rules.kernels.effects import TYPES, sides
from maxcode.policy.rules.kernels.macro_uses import hidden_macros, is_of_parameters, words_behind
from maxcode.policy.rules.kernels.nest import Body, Other, every, lexed

_POINTER = re.compile(
    r"(?!return\b)((?:[\w ]+[*&]|\w[\w ]* \(\*)[\w *&]*?)\b\w+ ?(?:[;,\[)]|=(?!=) ?(?P<value>.*))", re.DOTALL
)
_FRACTION = re.compile(r"\d*\.\d*|\d+[eE]")
_CALLED = re.compile(r"\b(?!(?:size|length|int|long|size_t|min|max|abs)\b)(\w+) ?\(")  # what may have a fraction
_OWN_MEMORY = re.compile(r"(?:\([\w ]+\* ?\) ?)?(?:std::)?(?:malloc|calloc|aligned_alloc)\(|new [\w: ]+\[")
_COMPLEX = re.compile(r"\bcomplex<([\w ]+)>")
_VECTOR_OF_BITS = re.compile(r"\bvector\s*<\s*bool\s*>")
_OWNER = re.compile(
    r"(?:vector|array|valarray|span|unique_ptr|basic_string)<(?:const )?(.+?)(?:\[\])?(?:,[\w ()*+-]+)?>|string"
)


def hides_access(unit: Unit, function: Function, body: Body) -> bool:
    """Whether an access of a function may not be what its text says."""
    given = {one.name for one in function.parameters if one.kind == "pointer"}
    made = {one.name for one in declared_in(unit, function)}
    return (
        any(_points_into(one.text) for one in every(body) if isinstance(one, Other))
        or bool(given & (_assigned(unit, function) | made))
        or not all(_is_array(unit, function, name) for name in _before(body, "["))
        or _meet(unit, function, _before(body, "["))
        or bool(hidden_macros(unit, function, body))
        or is_watched(unit, function.node.start_byte, function.node.end_byte)
        or "_Pragma" in text_of(function.node)
        or _has_cast_address(unit, function, body)
        or bool(_before(body, "(") & (_impure(unit) | _callable(unit, function)))
    )


def declared_in(unit: Unit, function: Function) -> list[Variable]:
    """The variables that a function declares, in all its blocks."""
    start = function.node.start_byte
    return [one for one in unit.variables if one.home and one.home.node.start_byte == start]


def _texts(body: Body) -> Iterator[str]:
    return (text for item in every(body) for text, _ in sides(item))


def _before(body: Body, bracket: str) -> set[str]:
    """The names in front of a bracket."""
    found = (pair for text in _texts(body) for pair in pairwise(lexed(text)))
    return {one.text for one, after in found if one.is_word and after.text == bracket}


@lru_cache(maxsize=8)
def _assigned(unit: Unit, function: Function) -> frozenset[str]:
    """The names that a function assigns as a whole."""
    start, end = function.body.start_byte, function.body.end_byte
    lefts = [one.child_by_field_name("left") for one in unit.nodes("assignment_expression")]
    return frozenset(text_of(one) for one in lefts if one is not None and start <= one.start_byte < end)


def _points_into(text: str) -> bool:
    """Whether a statement declares a name for a part of an array, so that two names may mean one element; memory of its
    own and names declared with restrict are not shared."""
    named = _POINTER.match(text)
    return named is not None and "restrict" not in named[1] and not _OWN_MEMORY.match(named["value"] or "")


def _is_array(unit: Unit, function: Function, name: str) -> bool:
    """Whether a name with an index is an array that no other name of the function means."""
    local = [one for one in declared_in(unit, function) if one.name == name]
    given = [one for one in function.parameters if one.name == name]
    steady = name not in _assigned(unit, function)
    if local or given:
        return all(_is_own(unit, one, steady) for one in local) and all(
            one.kind == "pointer" or unit.is_number(one.type) or _owns(unit, one.type) for one in given
        )
    outside = [one for one in unit.variables if one.name == name and one.home is None]
    if not outside and not _is_of_another_file(unit, function, name):
        return False
    return all(one.form == "array" or (one.form == "pointer" and steady) or _owns(unit, one.type) for one in outside)


def _meet(unit: Unit, function: Function, names: set[str]) -> bool:
    """Whether a pointer that a function declares may point into another of these arrays: a call may keep it."""
    own = {one.name for one in declared_in(unit, function) if one.form == "pointer"} & names
    end = function.body.end_byte - 1
    places = {name: reached(unit, [(name,)], end) for name in names} if own else {}
    pairs = (product(places[one], places[other]) for one in own for other in names - {one})
    return any(meet(*two) for pair in pairs for two in pair)


@lru_cache(maxsize=8)
def _members_of_unions(unit: Unit) -> frozenset[str]:
    """The names that share their memory with others."""
    found = (walk(node) for node in unit.nodes("union_specifier"))
    return frozenset(text_of(one) for nodes in found for one in nodes if one.type == "field_identifier")


def _is_of_another_file(unit: Unit, function: Function, name: str) -> bool:
    """Whether a name that no plain declaration has may be that of an array: it only stands in front of an index, and is
    no macro and no member of an anonymous union."""
    words = [one.text for one in unit.tokens_in(function.body.start_byte, function.body.end_byte)]
    indexed = all(after == "[" for word, after in pairwise(words) if word == name)
    return indexed and name not in unit.macros and name not in _members_of_unions(unit)


def _is_own(unit: Unit, variable: Variable, steady: bool) -> bool:
    """Whether a variable of a function has memory of its own."""
    if variable.form == "pointer":
        value = " ".join(text_of(variable.value).split()) if variable.value is not None else ""
        return steady and (_OWN_MEMORY.match(value) is not None or "restrict" in text_of(variable.declarator))
    kind = unit.made(variable) if variable.form == "plain" and unit.language == "cpp" else ""
    return variable.form == "array" or (_owns(unit, kind) and "span<" not in kind and kind != "")


def _owns(unit: Unit, kind: str) -> bool:
    """Whether a type is a row of elements, each in memory of its own: not so the bits of a ``vector<bool>``."""
    if unit.language == "c":
        return True
    held = _OWNER.fullmatch(unit.resolve(kind))
    bits = {"bool", *(_template_types(unit) if _VECTOR_OF_BITS.search(unit.text) else ())}
    return held is not None and held[1] not in bits


def _has_cast_address(unit: Unit, function: Function, body: Body) -> bool:
    """Whether ``(type)*p`` reads an element: with a name of a type of its own it looks like a product."""
    text = [one.text for one in unit.tokens_in(function.body.start_byte, function.body.end_byte)]
    text += [token.text for side in _texts(body) for token in lexed(side)]
    casts = {kind for kind in re.findall(r"\( (\w+) \) \*", " ".join(text)) if not kind[0].isdigit()}
    return not casts <= TYPES | _values(unit)


@lru_cache(maxsize=8)
def _values(unit: Unit) -> frozenset[str]:
    """The names in a program that stand for values: variables, parameters, macros, enumerators."""
    found = {one.name for one in unit.variables} | {p.name for one in unit.functions for p in one.parameters}
    found |= {one.name for one in unit.macros.values() if TYPES.isdisjoint(token.text for token in one.body)}
    named = (node.child_by_field_name("name") for node in unit.nodes("enumerator"))
    return frozenset(found).union(text_of(one) for one in named if one is not None)


def _callable(unit: Unit, function: Function) -> set[str]:
    """The variables and parameters that a function may call: lambdas, objects, pointers to functions."""
    found = {one.name for one in (*declared_in(unit, function), *unit.variables) if one.home in (None, function)}
    return found.union(*(re.findall(r"\w+", text_of(one.node)) for one in function.parameters))


@lru_cache(maxsize=8)
def _impure(unit: Unit) -> frozenset[str]:
    """The names of pure functions that the program gives to other ones."""
    macros = {name for name in PURE & unit.macros.keys() if not is_of_parameters(unit.macros[name])}
    own = {name for name in PURE & unit.by_name.keys() if not _is_pure(unit, unit.by_name[name])}
    taken = (text_of(one).split()[-1].rstrip(";").rpartition("::") for one in unit.nodes("using_declaration"))
    return frozenset(macros | own).union(name for scope, _, name in taken if scope not in ("std", "", "::std"))


def _is_pure(unit: Unit, known: Iterable[Function]) -> bool:
    """Whether functions compute a number from numbers alone."""
    outside = {one.name for one in unit.variables if one.home is None}
    for one in known:
        seen = effects(unit).closure(one.name)
        plain = all(p.kind != "pointer" and (p.kind == "value" or p.const) for p in one.parameters)
        if not plain or seen.opaque or seen.outside - PURE or seen.words & (outside | {"static", "goto"}):
            return False
        if seen.writes & {p.name for p in one.parameters if p.kind != "value"}:
            return False
    return True


def of_other_types(unit: Unit, function: Function) -> frozenset[str]:
    """The names that a function declares with a type that is neither one of numbers nor a row of them."""
    named = [(one.name, one.type) for one in declared_in(unit, function)]
    named += [(one.name, one.type) for one in function.parameters]
    return frozenset(name for name, kind in named if not _is_of_numbers(unit, unit.resolve(kind)))


def _is_of_numbers(unit: Unit, kind: str) -> bool:
    row = _OWNER.fullmatch(kind)
    held = _COMPLEX.sub(r"\1", row[1] or "char" if row is not None else kind)
    return unit.is_number(held)


@lru_cache(maxsize=8)
def _template_types(unit: Unit) -> frozenset[str]:
    """The parameters of templates that stand for types."""
    return frozenset(text_of(node).split()[-1] for node in unit.nodes("type_parameter_declaration"))


@lru_cache(maxsize=8)
def reals(unit: Unit, function: Function) -> frozenset[str]:
    """The numbers of a function that may have a fraction."""
    start = function.node.start_byte
    seen = [one for one in unit.variables if one.home is None or one.home.node.start_byte == start]
    named = [(one.name, one.type) for one in seen if one.form in ("plain", "reference")]
    named += [(one.name, one.type) for one in function.parameters if one.kind != "pointer"]
    kinds = {"double", "float", *_template_types(unit)}
    found = {name for name, kind in named if kinds & set(re.findall(r"\w+", unit.resolve(kind)))}
    found |= {name for name in unit.macros if _is_real_macro(unit, name, found)}
    made = [(one.name, text_of(one.value)) for one in seen if "auto" in one.type and one.value is not None]
    for name, value in made:
        fraction = any(_FRACTION.match(token.text) or token.text in found for token in lexed(value))
        if fraction or _CALLED.search(value):
            found.add(name)
    return frozenset(found)


def _is_real_macro(unit: Unit, name: str, found: set[str]) -> bool:
    """Whether a macro, or one in it, has a number with a fraction, one of these names, a cast, or a call."""
    bodies = [unit.macros[word].body for word in words_behind(unit, name) if word in unit.macros]
    texts = [token.text for body in bodies for token in body]
    called = (word for body in bodies for word in _CALLED.findall(" ".join(token.text for token in body)))
    real = any(_FRACTION.match(text) or text in ("double", "float") or text in found for text in texts)
    return real or any(word not in unit.macros for word in called)
