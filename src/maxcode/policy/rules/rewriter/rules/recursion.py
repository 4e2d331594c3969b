"""The rule for recursion that repeats the same computation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.edit import Change, Edit, Snippet
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.views import classes, has_operators
from maxcode.code.cpp.watched import is_watched
from maxcode.code.cpp.words import PURE, words
from maxcode.code.source import Patch, text_of
from maxcode.policy.rules.rewriter.rules.guards import runs_threads

PLACES = (10, 16, 20)

_INTEGER = re.compile(r"(unsigned |signed )?(int|long|long long|short|char)|unsigned|bool|size_t|u?int\d+_t")
_LEAPS = words("catch setjmp sigsetjmp")  # the outermost call may not come to its end
_EFFECTS = words("cin cout cerr mxr static throw goto asm scanf")


def memoise(unit: Unit) -> Iterator[Edit]:
    """Stores the results of a function of integers that calls itself at least twice and changes only locals."""
    for function in unit.functions:
        if function.name == "main" or not _is_pure_recursion(unit, function):
            continue
        for bits in PLACES:
            change = Change(_patches(unit, function, bits), (Snippet("memo"),))
            what = f"remembers the results of {function.name} within one outermost call"
            lines = unit.lines_of(function.node)
            yield Edit("memoise", function.name, (("bits", bits),), what, lines, change)


def _is_pure_recursion(unit: Unit, function: Function) -> bool:
    names = {p.name for p in function.parameters}
    types = [unit.resolve(p.type) for p in function.parameters]
    plain = all(
        p.kind == "value" and p.name not in ("", "result") and not p.const and p.node.type == "parameter_declaration"
        for p in function.parameters
    )
    integers = bool(types) and len(types) <= 5 and all(_INTEGER.fullmatch(kind) for kind in types)
    result = unit.resolve(function.returns)
    if function.method or len(unit.by_name[function.name]) != 1 or not plain or not integers:
        return False
    if not (_INTEGER.fullmatch(result) or result in ("double", "float")):
        return False
    parent = function.node.parent
    if parent is None or function.declarator.parent != function.node or (runs_threads(unit) or unit.words & _LEAPS):
        return False
    if parent.type != "translation_unit" and not (_is_namespace(parent)):
        return False
    head = unit.between(function.node.start_byte, function.declarator.start_byte)
    if {"constexpr", "consteval"} & {*head.split()} or "[" in head or function.declarator.child_count != 2:
        return False
    if is_watched(unit, function.body.start_byte, function.body.end_byte):
        return False
    if {f"{function.name}_known", f"{function.name}_plain"} & unit.words or _makes_objects(unit, function):
        return False
    body = effects(unit).of(function.body.start_byte, function.body.end_byte)
    local = {v.name for v in unit.variables if v.home == function and v.form in ("plain", "array")} | names
    selfish = len(unit.calls_in(function.body, function.name)) >= 2 and body.calls == {function.name}
    return (
        selfish
        and body.writes <= local
        and not body.opaque
        and not body.outside - PURE
        and not body.words & _EFFECTS
        and not _declares_static(unit, function)
    )


def _makes_objects(unit: Unit, function: Function) -> bool:
    """Whether a function names a class of the program, or an object with operators: no call names what they do."""
    used = effects(unit).of(function.body.start_byte, function.body.end_byte).words
    named = {word for one in used for word in re.findall(r"\w+", unit.aliases.get(one, one))}
    kinds = (unit.type_of(one, function.body.start_byte) for one in used)
    return not named.isdisjoint(classes(unit)) or any(has_operators(unit, kind) for kind in kinds if kind is not None)


def _is_namespace(parent: Node) -> bool:
    around = parent.parent
    return parent.type == "declaration_list" and around is not None and around.type == "namespace_definition"


def _declares_static(unit: Unit, function: Function) -> bool:
    inside = unit.tokens_in(function.body.start_byte, function.body.end_byte)
    return any(token.text in ("static", "throw", "goto", "asm") for token in inside)


def _patches(unit: Unit, function: Function, bits: int) -> tuple[Patch, ...]:
    """A wrapper in front of the renamed function that looks results up; calls in the function go to the wrapper."""
    start, name = function.node.start_byte, function.name
    head = unit.between(start, function.declarator.start_byte)
    listed = ", ".join(text_of(p.node) for p in function.parameters)
    types = "".join(f", {p.type}" for p in function.parameters)
    given = ", ".join(p.name for p in function.parameters)
    wrapper = (
        f"static mxr::memo<{bits}, {function.returns}{types}> {name}_known;\n"
        f"{head}{name}_plain({listed});\n"
        f"{head}{name}({listed}) {{\n"
        f"    if ({name}_known.depth == 0) {name}_known.forget();\n"
        f"    if (const {function.returns}* result = {name}_known.find({given})) return *result;\n"
        f"    ++{name}_known.depth;\n"
        f"    {function.returns} result = {name}_plain({given});\n"
        f"    --{name}_known.depth;\n"
        f"    return {name}_known.keep(result, {given});\n"
        "}\n"
    )
    called = function.declarator.child_by_field_name("declarator")
    assert called is not None, "a function was read from a declarator with a name"
    return Patch(start, start, wrapper), unit.replace(called, f"{name}_plain")
