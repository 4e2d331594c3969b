"""Rules for numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from maxcode.code.cpp.declarations import Variable
from maxcode.code.cpp.edit import Change, Edit, Snippet, Spots, edits_by_site
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch, text_of

_SCALAR = re.compile(
    r"(unsigned |signed )?(int|long|long long|short|char|long int|long long int)"
    r"|unsigned|size_t|u?int\d+_t|double|float|bool"
)


def const_global(unit: Unit) -> Iterator[Edit]:
    """Declares a global number, or table of numbers, constant if nothing changes it; division by it gets cheap."""
    seen: set[int] = set()
    for variable in unit.variables:
        start = variable.declaration.start_byte
        group = [v for v in unit.variables if v.declaration.start_byte == start]
        if start in seen or len(group) != len(variable.declaration.children_by_field_name("declarator")):
            continue
        seen.add(start)
        if all(_is_constant(unit, v) for v in group):
            names = " ".join(v.name for v in group)
            change = Change((Patch(start, start, "const "),))
            lines = unit.lines_of(variable.declaration)
            yield Edit("const_global", names, (), f"makes {names} a constant", lines, change)


def int_pow(unit: Unit) -> Iterator[Edit]:
    """Computes pow of two integers by multiplication while that is exact; decided at compile time."""
    if "pow" in unit.by_name:
        return
    found: Spots = {}
    for _, node, arguments in unit.calls("pow"):
        function = node.child_by_field_name("function")
        if len(arguments) == 2 and function is not None:
            spot = function, (unit.replace(function, "mxr::power"),)
            found.setdefault(unit.place("pow", node), []).append(spot)
    yield from edits_by_site(unit, "int_pow", "multiplies instead of calling pow", found, (Snippet("power"),))


def product_pow(unit: Unit) -> Iterator[Edit]:
    """Multiplies instead of ``pow(x, 3)`` and higher whole powers; changes last digits, so needs a tolerance."""
    found: Spots = {}
    for _, node, arguments in unit.calls("pow") if "pow" not in unit.by_name else ():
        if "complex" not in unit.words and len(arguments) == 2 and re.fullmatch(r"[3-8]", text_of(arguments[1])):
            text = f"mxr::product<{text_of(arguments[1])}>({text_of(arguments[0])})"
            found.setdefault(unit.place("pow", node), []).append((node, (unit.replace(node, text),)))
    yield from edits_by_site(unit, "product_pow", "multiplies instead of calling pow", found, (Snippet("product"),))


def short_mod(unit: Unit) -> Iterator[Edit]:
    """Uses the 32-bit division for ``a % b`` if both numbers are small; b must not be a constant."""
    found: Spots = {}
    for node in unit.nodes("binary_expression") if not _changes_operands(unit) else ():
        operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
        if operator is None or right is None or text_of(operator) != "%":
            continue
        if _is_known(unit, right) or _in_condition(node):
            continue
        before = Patch(node.start_byte, node.start_byte, "mxr::remainder(")
        patches = before, unit.replace(operator, ","), Patch(node.end_byte, node.end_byte, ")")
        found.setdefault(unit.place("%", node), []).append((node, patches))
    what = "divides in 32 bits where that is enough"
    yield from edits_by_site(unit, "short_mod", what, found, (Snippet("remainder"),))


def binary_gcd(unit: Unit) -> Iterator[Edit]:
    """Replaces Euclid's algorithm, written out or std::__gcd, by one with shifts; the result is the same for every
    sign."""
    for function in unit.functions:
        names = [p.name for p in function.parameters]
        types = {unit.resolve(p.type) for p in function.parameters} | {unit.resolve(function.returns)}
        if (
            function.method
            or len(names) != 2
            or len(types) != 1
            or "constexpr" in unit.between(function.node.start_byte, function.declarator.start_byte)
            or not _is_euclid(unit, function.body, function.name, names)
        ):
            continue
        if any(p.kind != "value" for p in function.parameters) or not _SCALAR.fullmatch(next(iter(types))):
            continue
        text = f"{{ return mxr::gcd<{function.returns}>({names[0]}, {names[1]}); }}"
        change = Change((unit.replace(function.body, text),), (Snippet("gcd"),))
        yield Edit("binary_gcd", function.name, (), "finds divisors by shifts", unit.lines_of(function.node), change)
    found = [call.child_by_field_name("function") for _, call, given in unit.calls("__gcd") if len(given) == 2]
    nodes = [node for node in found if node is not None]
    if nodes:
        change = Change(tuple(unit.replace(node, "mxr::gcd") for node in nodes), (Snippet("gcd"),))
        yield Edit("binary_gcd", "__gcd", (), "finds divisors by shifts", unit.lines_of(*nodes), change)


# ---------------------------------------------------------------------------------------------------------- helpers


def _is_constant(unit: Unit, variable: Variable) -> bool:
    if variable.home is not None or variable.form not in ("plain", "array") or variable.value is None:
        return False
    kind = variable.declaration.child_by_field_name("type")
    if kind is None or kind.start_byte != variable.declaration.start_byte or variable.name in unit.shared:
        return False
    qualified = any(
        child.type in ("type_qualifier", "storage_class_specifier") for child in variable.declaration.children
    )
    if qualified or not _SCALAR.fullmatch(unit.resolve(variable.type)):
        return False
    found = [k for k, token in enumerate(unit.tokens) if token.text == variable.name]
    places = [unit.tokens[k] for k in found]
    if any(token.directive for token in places) or len(unit.tokens) - 1 in found:  # the last: a broken text
        return False
    bare = [k for k in found if unit.tokens[k + 1].text != "[" and places[0] != unit.tokens[k]]
    if variable.form == "array" and (bare or len(variable.dims) > 1):
        return False  # as a pointer, it would have another type
    inside = 0
    for function in unit.functions:
        start, end = function.body.start_byte, function.body.end_byte
        count = sum(1 for token in places if start <= token.start < end)
        if count and variable.name in effects(unit).of(start, end).writes:
            return False
        inside += count
    declared = 1
    return inside > 0 and inside + declared == len(places)


def _changes_operands(unit: Unit) -> bool:
    """Whether a % of the program may change one of its sides, or return a reference to it."""
    for function in unit.by_name.get("operator%", ()):
        start, end = function.body.start_byte, function.body.end_byte
        own = {v.name for v in unit.variables if v.home == function}
        own |= {one.name for one in function.parameters if one.kind == "value"}
        by_reference = (
            function.declarator.parent is not None and function.declarator.parent.type == "reference_declarator"
        )
        if by_reference or effects(unit).of(start, end).writes - own:
            return True
    return "operator" in unit.shared


def _in_condition(node: Node) -> bool:
    """Whether an expression is the condition of a directive."""
    inner, around = node, node.parent
    while around is not None and around.type not in ("preproc_if", "preproc_elif"):
        inner, around = around, around.parent
    return around is not None and around.child_by_field_name("condition") == inner


def _is_known(unit: Unit, node: Node) -> bool:
    """Whether the compiler knows the value: literals, constants, macros of literals."""
    text = text_of(node).strip("()")
    if not re.fullmatch(r"\w+", text):
        return not re.search(r"[A-Za-z_]", text)
    variable = unit.variable(text, node.start_byte)
    constant = variable is not None and re.match(r"(static\s+)?(const|constexpr)\b", text_of(variable.declaration))
    return text[0].isdigit() or text in unit.macros or bool(constant)


_EUCLID = (
    "return b?f(b,a%b):a;",
    "return!b?a:f(b,a%b);",
    "return b==0?a:f(b,a%b);",
    "return b!=0?f(b,a%b):a;",
    "if(b==0)return a;return f(b,a%b);",
    "if(!b)return a;return f(b,a%b);",
    "if(b==0)return a;else return f(b,a%b);",
    "if(!b)return a;else return f(b,a%b);",
    "if(b)return f(b,a%b);return a;",
    "while(b){T t=a%b;a=b;b=t;}return a;",
    "while(b!=0){T t=a%b;a=b;b=t;}return a;",
)


def _is_euclid(unit: Unit, body: Node, name: str, parameters: list[str]) -> bool:
    """Whether a body is one of the usual ways to write Euclid's algorithm, up to names and brackets."""
    known = {name: "f", parameters[0]: "a", parameters[1]: "b"}
    texts = [known.get(token.text, token.text) for token in unit.tokens_in(body.start_byte + 1, body.end_byte - 1)]
    written = [_plain(" ".join(texts))]
    loop = re.search(r"\{ ([\w ]+?) (\w+) = a % b ;", " ".join(texts))
    if loop is not None:
        written.append(_plain(" ".join("t" if t == loop[2] else t for t in texts).replace(f"{loop[1]} t =", "T t =")))
    return any(_plain(pattern) in written for pattern in _EUCLID)


def _plain(text: str) -> str:
    """The text without blanks, and without brackets that only group; ``f(b,a%b)`` keeps its comma."""
    return re.sub(r"[\s(){}]", "", text)
