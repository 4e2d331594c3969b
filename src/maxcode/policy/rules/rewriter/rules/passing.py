"""Rules for how values reach functions and loop bodies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from maxcode.code.cpp.aliases import addresses, distinct
from maxcode.code.cpp.declarations import Function, Parameter, Variable, ancestor, parameter
from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.points_to import is_only_called
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.unnamed import shown_by
from maxcode.code.cpp.views import classes, shows
from maxcode.code.source import Patch, text_of, walk
from maxcode.policy.rules.rewriter.rules.aliasing import untouched
from maxcode.policy.rules.rewriter.rules.containers import split_arguments, tells
from maxcode.policy.rules.rewriter.rules.guards import may_wait, runs_threads

_HEAVY = re.compile(
    r"(vector|string|map|set|multiset|multimap|deque|list|unordered_\w+|pair|tuple|array|bitset)\b(?!.*[*&]$)"
)


def const_ref(unit: Unit) -> Iterator[Edit]:
    """Takes a container, string or struct by const reference; nothing may change it inside, also not under another
    name."""
    for function in unit.functions:
        if function.method or function.name == "main" or len(unit.by_name[function.name]) != 1:
            continue
        if function.name in unit.shared or not is_only_called(unit, function.name):
            continue
        found: dict[str, list[Patch]] = {}
        for number, given in enumerate(function.parameters):
            if not given.name or given.kind != "value" or given.const or not _is_heavy(unit, given.type):
                continue
            if tells(unit, given.type) or ("virtual" in unit.words and unit.resolve(given.type) in classes(unit)):
                continue
            if not _reads_only(unit, unit.resolve(given.type), given.name, function.body):
                continue
            if given.name in effects(unit).of(function.body.start_byte, function.body.end_byte).writes:
                continue
            places = _declared_places(unit, function, number)
            if places is not None and _is_steady(unit, function, number):
                found[given.name] = [patch for place in places for patch in _by_reference(place)]
        for names in [[name] for name in found] + ([list(found)] if len(found) > 1 else []):
            patches = tuple(patch for name in names for patch in found[name])
            lines = unit.lines_of(function.declarator, *(call for _, call, _ in unit.calls(function.name)))
            what, site = f"passes {' and '.join(names)} without copying", f"{' '.join(names)} of {function.name}"
            yield Edit("const_ref", site, (), what, lines, Change(patches))


def range_ref(unit: Unit) -> Iterator[Edit]:
    """Iterates over a container without copying its elements; the body must change neither the element nor the
    container."""
    for node in unit.nodes("for_range_loop"):
        kind, name, whole, body = (node.child_by_field_name(f) for f in ("type", "declarator", "right", "body"))
        if kind is None or name is None or whole is None or body is None or "const" in text_of(node).split("(")[1][:6]:
            continue
        auto = kind.type == "placeholder_type_specifier" and text_of(kind) == "auto"
        if name.type not in ("identifier", "structured_binding_declarator") or not (
            auto or _is_heavy(unit, text_of(kind))
        ):
            continue
        if not _element_reads_only(unit, whole, [text_of(c) for c in walk(name) if c.type == "identifier"], body):
            continue
        used = [text_of(child) for child in walk(name) if child.type == "identifier"]
        used += [text_of(child) for child in walk(whole) if child.type == "identifier"]
        if any(effects(unit).may_change(word, body.start_byte, body.end_byte) for word in used):
            continue
        root = next((text_of(child) for child in walk(whole) if child.type == "identifier"), "")
        if tells(unit, unit.type_of(root, whole.start_byte) or text_of(kind)):
            continue
        if runs_threads(unit) and may_wait(unit, body):
            continue  # the copy may be made because another thread changes the element
        if not untouched(unit, whole, node.start_byte, node.end_byte):
            continue  # it may be changed under another name
        patches = (Patch(kind.start_byte, kind.start_byte, "const "), Patch(kind.end_byte, kind.end_byte, "&"))
        over = re.sub(r"[^\w.]", "", text_of(whole))
        site = unit.place(f"{used[0]} over {over}", node)
        yield Edit("range_ref", site, (), "walks without copying elements", unit.lines_of(node), Change(patches))


def restrict(unit: Unit) -> Iterator[Edit]:
    """Declares that the pointer parameters of a function never overlap; every call must pass different arrays."""
    for function in unit.functions:
        pointers = [p for p in function.parameters if p.kind == "pointer" and p.name and _pointer_name(p) is not None]
        if (
            function.method
            or function.name in unit.shared
            or len(pointers) < 2
            or "restrict" in text_of(function.declarator)
        ):
            continue
        start = function.body.start_byte
        arrays = {v.name for v in unit.variables if v.lasts} & effects(unit).closure(function.name).words
        names = [p.name for p in pointers]
        others = {function.parameters[at].name for at in addresses(unit, function)} - {*names, ""}
        pairs = [(a, b) for k, a in enumerate(names) for b in [*names[k + 1 :], *sorted(arrays | others)]]
        if _moves(unit, function, names) or not all(distinct(unit, a, b, start + 1) for a, b in pairs):
            continue
        spots = [spot for p in pointers if (spot := _pointer_name(p)) is not None]
        patches = tuple(Patch(spot.start_byte, spot.start_byte, "__restrict__ ") for spot in spots)
        what = "promises that its arrays do not overlap"
        yield Edit("restrict", function.name, (), what, unit.lines_of(function.declarator), Change(patches))


def direct_lambda(unit: Unit) -> Iterator[Edit]:
    """Turns a std::function that holds one recursive lambda into the lambda itself, which can be inlined."""
    for node in unit.nodes("declaration"):
        kind, made = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        result = (
            re.fullmatch(r"(?:std::)?function\s*<\s*(.+?)\s*\((.*)\)\s*>", text_of(kind), re.DOTALL) if kind else None
        )
        if kind is None or made is None or result is None or made.type != "init_declarator":
            continue
        name, value = made.child_by_field_name("declarator"), made.child_by_field_name("value")
        if name is None or value is None or value.type != "lambda_expression":
            continue
        if not _is_only_called_in(unit, text_of(name), node):
            continue
        patches = _direct(value, text_of(name), result[1]) if _takes(unit, value, result[2]) else None
        if patches is not None:
            change = Change((unit.replace(kind, "auto"), *patches), (Snippet("lambda"),))
            site = unit.place(text_of(name), node)
            yield Edit("direct_lambda", site, (), "calls the lambda directly", unit.lines_of(node), change)


# ---------------------------------------------------------------------------------------------------------- helpers


def _is_heavy(unit: Unit, type_text: str) -> bool:
    resolved = unit.resolve(type_text)
    return _HEAVY.match(resolved) is not None or resolved.removeprefix("struct ") in classes(unit)


def _is_only_called_in(unit: Unit, name: str, node: Node) -> bool:
    """Whether a variable is only called in its scope."""
    scope = next((v.scope for v in unit.variables if v.name == name and v.declaration == node), None)
    if scope is None:
        return False
    inside = [token.text for token in unit.tokens_in(*scope)]
    return sum(text == name for text in inside) == 1 + sum(a == name and b == "(" for a, b in pairwise(inside))


def _reads_only(unit: Unit, kind: str, name: str, body: Node) -> bool:
    """Whether an object that is const can be used as a body uses it."""
    texts = [token.text for token in unit.tokens_in(body.start_byte, body.end_byte)]
    if {"iterator", "mutable", "decltype", "co_await", "co_yield", "co_return"} & {*texts}:
        return False
    if "map<" in kind and any(a == name and b == "[" for a, b in pairwise(texts)):
        return False
    return not any(_is_loose(node) for name in set(re.findall(r"\w+", kind)) for node in classes(unit).get(name, ()))


def _element_reads_only(unit: Unit, whole: Node, used: list[str], body: Node) -> bool:
    """The same for the elements of a container."""
    root = next((text_of(child) for child in walk(whole) if child.type == "identifier"), "")
    kind = unit.type_of(root, whole.start_byte) or ""
    loose = any(_is_loose(node) for nodes in classes(unit).values() for node in nodes)
    if (loose and not re.fullmatch(r"(?:vector|set|deque|list)<(?:\w+ )*(?:int|long|char|double|string)>", kind)) or (
        unit.others and not kind
    ):
        return False
    return all(_reads_only(unit, kind or "map<", name, body) for name in used)


def _is_loose(node: Node) -> bool:
    """Whether a class has a method or an operator that is not const, besides constructors and assignments."""
    named = node.child_by_field_name("name")
    for inner in walk(node):
        if inner.type == "function_declarator":
            name = inner.child_by_field_name("declarator")
            special = name is not None and (
                name.type == "destructor_name"
                or (named is not None and text_of(name) == text_of(named))
                or re.match(r"operator\s*[-+*/%&|^<>]*=$", text_of(name)) is not None
            )
            const = any(child.type == "type_qualifier" and text_of(child) == "const" for child in inner.children)
            holder = ancestor(inner, "field_declaration", "function_definition", "declaration")
            free = holder is not None and (
                any(text_of(child) == "static" for child in holder.children)
                or (holder.parent is not None and holder.parent.type == "friend_declaration")
            )
            if not special and not const and not free:
                return True
    return False


def _declared_places(unit: Unit, function: Function, number: int) -> list[Node] | None:
    """The parameter in the definition and in every prototype; None if a prototype does not match."""
    places: list[Node] = []
    for node in unit.nodes("function_declarator"):
        name, listed = node.child_by_field_name("declarator"), node.child_by_field_name("parameters")
        if name is None or listed is None or text_of(name) != function.name:
            continue
        found = [child for child in listed.named_children if child.type.endswith("declaration")]
        if len(found) != len(function.parameters) or found[number].type != "parameter_declaration":
            return None
        if (
            parameter(found[number]).kind != "value"
            or parameter(found[number]).type != function.parameters[number].type
        ):
            return None
        places.append(found[number])
    return places


def _by_reference(place: Node) -> list[Patch]:
    kind = place.child_by_field_name("type")
    assert kind is not None, "checked where the places are collected"
    return [Patch(kind.start_byte, kind.start_byte, "const "), Patch(kind.end_byte, kind.end_byte, "&")]


def _is_steady(unit: Unit, function: Function, number: int) -> bool:
    """Whether nothing in the function can change the argument."""
    outer = outer_writes(unit, function.name)
    calls = unit.calls(function.name) if outer else []
    return outer is not None and all(_is_apart(unit, node, given, number, outer) for _, node, given in calls)


def outer_writes(unit: Unit, name: str) -> frozenset[str] | None:
    """What a function and its callees may change outside themselves; None if unknown."""
    whole = effects(unit).closure(name)
    if whole.opaque:
        return None
    found: set[str] = set()
    for reached in whole.calls:
        for function in unit.by_name.get(reached, []):
            inside = effects(unit).of(function.body.start_byte, function.body.end_byte).writes
            local = (v for v in unit.variables if v.home == function and not v.lasts)
            own = {v.name for v in local if v.form in ("plain", "array")}
            found |= inside - own - {p.name for p in function.parameters if p.kind == "value"}
    return frozenset(found) | effects(unit).unnamed


def _is_apart(unit: Unit, call: Node, arguments: list[Node], number: int, outer: frozenset[str]) -> bool:
    """Whether the writes cannot reach the argument of one call."""
    if number >= len(arguments):
        return False
    at = call.start_byte
    others = {text_of(n) for k, a in enumerate(arguments) if k != number for n in walk(a) if n.type == "identifier"}
    objects = {v.name: v for v in unit.variables if v.lasts and _is_object(unit, v)}
    numbers = {name for name, one in objects.items() if unit.is_number(one.type)}
    inside = effects(unit).of(arguments[number].start_byte, arguments[number].end_byte)
    if not outer.isdisjoint(shown_by(unit, inside.calls)):
        return False
    pointers = {name for name in others | (outer - objects.keys()) if _may_point(unit, name, at)}
    for node in walk(arguments[number]):
        if node.type != "identifier":
            continue
        name = text_of(node)
        variable, given = unit.variable(name, at), unit.parameter(name, at)
        steady = variable is not None and variable.lasts and given is None and name not in outer | others
        steady = steady and not runs_threads(unit)
        local = steady and outer <= objects.keys() and _is_object(unit, variable)
        if given is not None:
            own = given.kind == "value" and not shows(unit, given.type)
            local = own or (given.const and outer <= numbers)
        elif variable is not None and not variable.lasts and variable.form != "reference":
            own = _is_object(unit, variable)
            local = own or outer <= numbers or all(distinct(unit, name, one, at) for one in sorted(outer))
        if name in others or not local or not all(distinct(unit, name, one, at) for one in sorted(pointers)):
            return False
    return True


def _is_object(unit: Unit, variable: Variable | None) -> bool:
    """Whether a variable is an object of its own, that neither is nor holds an address."""
    plain = variable is not None and variable.form in ("plain", "array")
    return plain and variable is not None and not shows(unit, unit.made(variable))


def _may_point(unit: Unit, name: str, offset: int) -> bool:
    """Whether a name at a byte may be or hold the address of another object."""
    given, variable = unit.parameter(name, offset), unit.variable(name, offset)
    if given is not None:
        return given.kind != "value" or shows(unit, given.type)
    return variable is not None and not _is_object(unit, variable)


def _pointer_name(given: Parameter) -> Node | None:
    """The name of a parameter that is one pointer; None for another form."""
    declarator = given.node.child_by_field_name("declarator")
    if declarator is None or declarator.type != "pointer_declarator":
        return None
    inner = declarator.child_by_field_name("declarator")
    return inner if inner is not None and inner.type == "identifier" else None


def _moves(unit: Unit, function: Function, names: list[str]) -> bool:
    """Whether one of the pointers itself is changed, or stored."""
    texts = [token.text for token in unit.tokens_in(function.body.start_byte, function.body.end_byte)]
    for before, text, after in zip(texts, texts[1:], texts[2:], strict=False):
        kept = before in ("=", "++", "--", "&", "(", ",", "return") and after != "["
        if text in names and (kept or after in ("=", "++", "--", "+=", "-=")):
            return True
    return False


def _takes(unit: Unit, value: Node, types: str) -> bool:
    """Whether a lambda takes numbers of the types that its std::function does, so that none is cut on the way."""
    declarator = value.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    given = [parameter(child) for child in listed.named_children if child.type != "comment"] if listed else []
    if sum(one.kind == "reference" for one in given) > types.count("&") or any("auto" in one.type for one in given):
        return False  # the std::function hands on a copy, of its own type
    wanted = [re.sub(r"\bconst\b|&", "", unit.resolve(one)).strip() for one in split_arguments(types)]
    if len(wanted) != len(given):
        return not given
    taken = [unit.resolve(one.type) for one in given]
    return not any(unit.is_number(a) and unit.is_number(b) and a != b for a, b in zip(wanted, taken, strict=True))


def _direct(value: Node, name: str, result: str) -> list[Patch] | None:
    """The patches that make a lambda take itself as its first argument."""
    captures = value.child_by_field_name("captures")
    declarator, body = value.child_by_field_name("declarator"), value.child_by_field_name("body")
    if captures is None or body is None or text_of(captures).replace(" ", "") != "[&]":
        return None
    patches = [Patch(value.start_byte, value.start_byte, "mxr::recursive{"), Patch(value.end_byte, value.end_byte, "}")]
    if declarator is None:
        patches.append(Patch(captures.end_byte, captures.end_byte, f"(auto&& {name}) -> {result} "))
        return patches
    listed = declarator.child_by_field_name("parameters")
    if listed is None or "mutable" in text_of(declarator):
        return None
    comma = ", " if listed.named_child_count else ""
    patches.append(Patch(listed.start_byte + 1, listed.start_byte + 1, f"auto&& {name}{comma}"))
    trailing = next((child for child in declarator.children if child.type == "trailing_return_type"), None)
    if trailing is None:
        patches.append(Patch(listed.end_byte, listed.end_byte, f" -> {result}"))
    elif "".join(text_of(trailing).split()) != "->" + "".join(result.split()):
        return None
    return patches
