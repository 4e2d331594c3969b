"""Rules for maps and sets: cheaper structures if the program does not need the order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable
from maxcode.code.cpp.edit import Edit, Spots, edits_by_site
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.expand import expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import words
from maxcode.code.source import text_of, walk
from maxcode.policy.rules.rewriter.rules.containers import (
    Declared,
    NewType,
    behind,
    closing,
    declarations,
    keeps_argument,
    only_methods,
    returns_element,
    retyped,
    tells,
    uses,
)

LOADS = (50, 75, 100)
FIRST = (16, 4096, 65536, 1 << 20)
PAGES = (8, 10, 12)
FLAT_ROOM = (64, 4096)

_UNORDERED = words("count find end erase clear size empty insert emplace at")
_WALKS = words("next prev advance distance for_each copy count_if accumulate vector set")
_PAGED = words("count find end erase clear size empty insert")
_SORTED = words("count find end erase clear size empty insert begin rbegin rend lower_bound upper_bound emplace")
_POSITIONS = words("find lower_bound upper_bound begin end rbegin insert")
_KEEPS = words("push_back emplace_back push emplace make_pair")
_CHANGES = words("insert erase emplace clear")
_INTEGER = re.compile(
    r"(unsigned |signed )?(int|long|long long|short|char|long int|long long int)|unsigned|size_t|u?int\d+_t"
)
_PLAIN = re.compile(
    r"(unsigned |signed )?(int|long|long long|short|char|bool|double|float|long double)|unsigned|u?int\d+_t"
)


def hash_table(unit: Unit) -> Iterator[Edit]:
    """Turns a map or set into a hash table; the program must not iterate over it, need its order or use it as a
    whole."""
    for found in declarations(unit, "map", "set", "unordered_map", "unordered_set"):
        told = {"at"} if "what" in unit.words else set()  # the words of an error
        if not _fits(found) or not _hashable(unit, found) or not _unordered(unit, found, _UNORDERED - told):
            continue
        if tells(unit, found.arguments[-1]):
            continue
        face = "map" if found.template.endswith("map") else "set"
        for kind, name in (("pooled", f"mxr::hash_{face}"), ("standard", f"mxr::std_{face}")):
            for load in LOADS:
                for first in FIRST[:1] if found.is_array else FIRST:
                    arguments = ", ".join([*found.arguments, str(load), str(first)])
                    new = NewType(f"{name}<{arguments}>", "hash", f"a {kind} hash table")
                    yield retyped(unit, "hash_table", found, (("table", kind), ("load", load), ("first", first)), new)


def paged_map(unit: Unit) -> Iterator[Edit]:
    """Keeps the values of small integer keys in pages; like hash_table, for plain keys and values, no arrays of
    maps."""
    for found in declarations(unit, "map", "set", "unordered_map", "unordered_set"):
        plain = _fits(found) and not found.is_array and _INTEGER.fullmatch(unit.resolve(found.arguments[0]))
        values = all(_PLAIN.fullmatch(unit.resolve(argument)) for argument in found.arguments[1:])
        if not plain or not values or not _unordered(unit, found, _PAGED):
            continue
        face = "map" if found.template.endswith("map") else "set"
        for bits in PAGES:
            new = NewType(f"mxr::paged_{face}<{', '.join([*found.arguments, str(bits)])}>", "paged", "pages of entries")
            yield retyped(unit, "paged_map", found, (("page", bits),), new)


def flat_set(unit: Unit) -> Iterator[Edit]:
    """Keeps a std::set in a sorted vector; no iterator may be held while the set changes."""
    for found in declarations(unit, "set"):
        if len(found.arguments) != 1 or found.is_array or any(v.value for v in found.variables):
            continue
        if tells(unit, found.arguments[0]):
            continue
        if all(
            _is_sorted_use(unit, v) and not _held(unit, v) and not _typed(unit, v) and not _refers(unit, v)
            for v in found.variables
        ):
            for room in FLAT_ROOM:
                new = NewType(f"mxr::flat_set<{found.arguments[0]}, {room}>", "flat_set", "a sorted vector")
                yield retyped(unit, "flat_set", found, (("room", room),), new)


def set_bound(unit: Unit) -> Iterator[Edit]:
    """Calls ``s.lower_bound(x)`` instead of the linear std::lower_bound; for a set or multiset in default order."""
    found: Spots = {}
    for name, node, arguments in unit.calls("lower_bound", "upper_bound"):
        ends = [_END.fullmatch(text_of(argument).replace(" ", "")) for argument in arguments[:2]]
        if len(arguments) != 3 or not ends[0] or not ends[1] or ends[0]["what"] != ends[1]["what"]:
            continue
        what, root = ends[0]["what"], ends[0]["root"]
        if (ends[0]["end"], ends[1]["end"]) != ("begin", "end") or not effects(unit).pure(arguments[0]):
            continue
        kind = unit.type_of(root, node.start_byte)
        if _is_set(kind, what.count("[") - _dims(unit, root, node.start_byte)) and _keeps(
            unit, kind or "", arguments[2]
        ):
            patch = unit.replace(node, f"{what}.{name}({text_of(arguments[2])})")
            found.setdefault(unit.place(what, node), []).append((node, (patch,)))
    yield from edits_by_site(unit, "set_bound", "searches the tree instead of walking it", found)


_END = re.compile(r"(?P<what>(?P<root>\w+)(\[[^\[\]]*\])*)\.(?P<end>begin|end)\(\)")


# ---------------------------------------------------------------------------------------------------------- helpers


def _dims(unit: Unit, name: str, offset: int) -> int:
    variable = unit.variable(name, offset)
    return len(variable.dims) if variable is not None else 0


def _is_set(type_text: str | None, subscripts: int) -> bool:
    """Whether elements behind ``subscripts`` subscripts of vectors are sets in default order."""
    for _ in range(subscripts):
        if type_text is None or not type_text.startswith("vector<"):
            return False
        type_text = type_text.removeprefix("vector<").removesuffix(">")
    return re.fullmatch(r"(multi)?set<([^,<>]+|pair<[^<>]+>)>", type_text or "") is not None


_WIDER = {
    "int": r"double|float|long|unsigned|size_t|u?int64_t",
    "long": r"double|float|unsigned|size_t|uint64_t",
    "short": r"double|float|int|long|unsigned|size_t|u?int\d+_t",
}
_SHORT = re.compile(r"\b(?:char|short|u?int8_t|u?int16_t)\b")


def _keeps(unit: Unit, kind: str, sought: Node) -> bool:
    """Whether what is sought in a set of whole numbers has no type that loses its value as an element of it."""
    element = re.sub(r"^(?:vector<)*(?:multi)?set<|>+$", "", kind)
    if not _INTEGER.fullmatch(element):
        return True
    wider = _WIDER["short" if _SHORT.search(element) else "long" if "long" in element else "int"]
    wider += r"|^\d{3,}" if _SHORT.search(element) else ""
    said = [
        text_of(one) for one in walk(sought) if one.type in ("number_literal", "primitive_type", "sized_type_specifier")
    ]
    named = {text_of(one) for one in walk(sought) if one.type == "identifier"}
    said += [unit.type_of(name, sought.start_byte) or "" for name in named]
    said += [function.returns for name in named for function in unit.by_name.get(name, [])]
    return not any(re.search(rf"\b(?:{wider})\b|^[\d.]+[.e]", one) for one in said if one != element)


def _fits(found: Declared) -> bool:
    """Whether the declaration has the default order and no initial value."""
    expected = 2 if found.template.endswith("map") else 1
    return len(found.arguments) == expected and not any(v.value for v in found.variables)


def _hashable(unit: Unit, found: Declared) -> bool:
    key = unit.resolve(found.arguments[0])
    while match := re.fullmatch(r"pair<(.*)>", key):
        key = match[1]
    parts = [part for part in re.split(r"[,<>]|pair", key) if part]
    return all(_INTEGER.fullmatch(part) or part in ("string", "bool") for part in parts)


def _unordered(unit: Unit, found: Declared, methods: frozenset[str]) -> bool:
    subscript = found.template.endswith("map")
    return all(
        only_methods(unit, v, methods, subscript) and not _stepped(unit, v) and not _typed(unit, v)
        for v in found.variables
    )


def _stepped(unit: Unit, variable: Variable) -> bool:
    """Whether an iterator into the container is moved; if so, the order of its elements matters."""
    texts = [*(token.text for token in expanded(unit, *variable.scope)), "", "", "", ""]
    for name in _iterators(unit, variable):
        if any(text == name and not _stays(texts, k) for k, text in enumerate(texts)):
            return True
    for whole, k in uses(unit, variable):
        held = [*whole, "", "", ""]
        at = behind(held, k, len(variable.dims))
        found = at is not None and held[at] == "." and held[at + 1] in _POSITIONS - {"insert"}
        given = held[k - 1] == "," or (held[k - 1] == "(" and held[k - 2] in _WALKS)
        if at is not None and held[at + 1] == "erase" and _takes_next(held, k):
            return True
        if held[k - 1] in ("++", "--") or (found and given and held[closing(held, (at or 0) + 2) + 1] in (",", ")")):
            return True
    return False


def _takes_next(texts: list[str], k: int) -> bool:
    """Whether the result of ``erase`` is used as an iterator; a number of elements is no iterator."""
    counted = texts[k - 3] in ("int", "long", "bool", "size_t")
    return texts[k - 1] in ("*", "return", ",") or (texts[k - 1] == "=" and not counted)


def _stays(texts: list[str], k: int) -> bool:
    """Whether a use of an iterator at a position neither moves nor copies it."""
    before, after = texts[k - 1], texts[k + 1]
    if after == "." or (before, after) in (("(", ")"), ("[", ","), (",", "]")):  # ``it.first``, ``erase(it)``
        part = texts[k + 2] != "first" or texts[k + 3] in ("->", "==", "!=", ".", "=") or before == "*"
        return before not in ("++", "--") and (texts[k - 2] not in _WALKS if after == ")" else part)
    return before in ("*", "==", "!=") or after in ("->", "==", "!=", "=", ":")


def _typed(unit: Unit, variable: Variable) -> bool:
    """Whether an iterator, or the result of an insertion, is kept in a variable whose type is written out."""
    for texts, k in uses(unit, variable):
        at = behind(texts, k, len(variable.dims))
        if at is None or texts[at : at + 1] != ["."] or texts[at + 1] not in _POSITIONS | {"emplace", "erase"}:
            continue
        after = closing(texts, at + 2) + 1
        start = k
        while start > 0 and texts[start - 1] not in (";", "{", "}", "("):
            start -= 1
        kept = "=" in texts[start:k] and texts[after : after + 1] != ["->"] and texts[after : after + 1] != ["."]
        compared = {"==", "!=", "?", "*"} & {*texts[start:k], *texts[after : after + 1]}
        if kept and not compared and "auto" not in texts[start:k] and texts[start + 1] != "=":
            return True
        opens = texts[start:k] and "=" not in texts[start:k] and texts[start - 1] == "("
        if opens and start > 3 and texts[start - 3] in ("iterator", "const_iterator"):
            return True  # ``map<int, int>::iterator it(m.begin())``
    return False


def _iterators(unit: Unit, variable: Variable) -> set[str]:
    """The names of iterators into a container."""
    names: set[str] = set()
    for texts, k in uses(unit, variable):
        at = behind(texts, k, len(variable.dims))
        if at is not None and texts[at + 1 : at + 2] and texts[at + 1] in _POSITIONS and texts[k - 1] == "=":
            start = k - 2
            while texts[k - 2] == "]" and start > 0 and texts[start - 1] != "[":  # ``auto [it, fresh] = ...``
                start -= 1
            names.add(texts[start])
    return names


def _is_sorted_use(unit: Unit, variable: Variable) -> bool:
    """Whether a sorted vector supports every use; no iterator into a global, which a callee might change."""
    local = variable.home is not None
    return only_methods(unit, variable, _SORTED, False, walk=local) and (local or not _iterators(unit, variable))


def _held(unit: Unit, variable: Variable) -> bool:
    """Whether some iterator is used after a later change of the container, or is passed on."""
    texts = [token.text for token in expanded(unit, *variable.scope)]
    for held, k in uses(unit, variable):
        if held[k + 1 : k + 2] != ["."] or not {*held[k + 2 : k + 3]} & _POSITIONS:
            continue
        if held[k - 1] == "=" and _changes_around(held, k, variable.name):
            return True
        if held[k - 1] == "(" and held[k - 2] in _KEEPS:
            return True
        if held[k - 1] == "return" or (held[k - 1] == "=" and _outlives(held, held[k - 2], k, variable.name)):
            return True
    return any(
        texts[j] == ":" and texts[j + 1] == variable.name and _changes(texts, j, variable.name)
        for j in range(len(texts) - 1)
    )


def _refers(unit: Unit, variable: Variable) -> bool:
    """Whether a reference to an element is kept: ``auto &x = *s.begin();`` or ``f(*s.begin())`` with a reference."""
    if returns_element(unit, variable):
        return True
    names = {variable.name} | _iterators(unit, variable)
    texts = [*(token.text for token in expanded(unit, *variable.scope)), "", "", ""]
    for k, text in enumerate(texts):
        if text not in names or (texts[k - 1] != "*" and texts[k + 1] != "->"):
            continue
        start = k
        while start > 0 and texts[start - 1] not in (";", "{", "}", "("):
            start -= 1
        before = texts[start:k]
        if ("=" in before and "&" in before) or keeps_argument(
            unit, texts[start - 2] if texts[start - 1] == "(" else ""
        ):
            return True
    return False


def _outlives(texts: list[str], iterator: str, position: int, container: str) -> bool:
    """Whether the iterator is mentioned behind the first statement that changes its container."""
    depth, changed = 0, -1
    for k in range(position, len(texts)):
        depth += (texts[k] == "{") - (texts[k] == "}")
        if depth < 0:
            return False
        if texts[k] in ("for", "while", "do") and changed < 0:
            return _changed_later(texts, k, container)
        changes = texts[k : k + 2] == [container, "."] and {*texts[k + 2 : k + 3]} & _CHANGES
        if changed < 0 and changes and k > position:
            changed = closing(texts, k + 3)
        if 0 <= changed < k and texts[k] == iterator:
            return True
    return False


def _changes_around(texts: list[str], position: int, container: str) -> bool:
    """Whether an iterator made in the head of a ``for`` walks through a body that changes its container."""
    depth, opening = 0, position
    while opening > 0 and texts[opening] not in ("{", "}"):
        depth += (texts[opening] == ")") - (texts[opening] == "(")
        if depth < 0:
            return texts[opening - 1] == "for" and _changes(texts, closing(texts, opening), container)
        opening -= 1
    return False


def _changed_later(texts: list[str], position: int, container: str) -> bool:
    depth = 0
    for k in range(position, len(texts) - 2):
        depth += (texts[k] == "{") - (texts[k] == "}")
        if depth < 0:
            return False
        if texts[k] == container and texts[k + 1] == "." and texts[k + 2] in _CHANGES:
            return True
    return False


def _changes(texts: list[str], colon: int, container: str) -> bool:
    """Whether the body of the range-for with the colon at ``colon`` changes the container it iterates over."""
    start = next((k for k in range(colon, len(texts) - 1) if texts[k] == ")"), len(texts) - 2)
    end_of_one = next((k for k in range(start, len(texts)) if texts[k] == ";"), len(texts))
    body = texts[start : closing(texts, start + 1) if texts[start + 1] == "{" else end_of_one]
    return any(body[k : k + 2] == [container, "."] and body[k + 2] in _CHANGES for k in range(len(body) - 2))
