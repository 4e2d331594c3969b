"""Rules that ask the compiler for more optimisation: they rarely help, so their priors are low."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from itertools import pairwise

from maxcode.code.cpp.declarations import Function
from maxcode.code.cpp.edit import Change, Edit
from maxcode.code.cpp.effects import effects
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch, text_of

OPTIMIZE = ("unroll-loops", "no-math-errno,no-trapping-math", "prefetch-loop-arrays", "O2")
TARGETS = ("popcnt,bmi,bmi2,lzcnt", "avx2", "avx2,bmi,bmi2,lzcnt,popcnt")  # without fma, which would change results
FAST = ("fast-math", "fast-math with fma")
_NAMED = frozenset({"typeid", "type_index", "__PRETTY_FUNCTION__", "dlsym"})
KINDS = ("always_inline", "flatten", "noinline")


def pragma_optimize(unit: Unit) -> Iterator[Edit]:
    """Requests an optimisation that -O3 leaves out, for the whole program; the program must not request one already."""
    if "GCC optimize" not in unit.text and unit.main is not None:
        asked = bool(unit.words & {"errno", "fetestexcept", "feenableexcept"})
        for choice in OPTIMIZE if not asked else [one for one in OPTIMIZE if "math" not in one]:
            yield _pragma(unit, "pragma_optimize", f'#pragma GCC optimize("{choice}")\n', choice)


def pragma_target(unit: Unit) -> Iterator[Edit]:
    """Allows newer x86 instructions, without fused multiply-add; the program must not request any already."""
    if "GCC target" not in unit.text and unit.main is not None and platform.machine() in ("x86_64", "AMD64"):
        for choice in TARGETS:
            yield _pragma(unit, "pragma_target", f'#pragma GCC target("{choice}")\n', choice)


def fast_math(unit: Unit) -> Iterator[Edit]:
    """Lets the compiler reorder floating-point arithmetic; changes last digits, so needs a tolerance."""
    if "GCC optimize" in unit.text or "GCC target" in unit.text or not unit.words & {"double", "float"}:
        return
    for choice in FAST:
        text = '#pragma GCC optimize("fast-math")\n'
        if choice != FAST[0]:
            text += '#pragma GCC target("avx2,fma")\n'
        yield _pragma(unit, "fast_math", text, choice)


def attribute(unit: Unit) -> Iterator[Edit]:
    """Tells the compiler to inline a function everywhere, to inline all calls into it, or to keep it separate."""
    for function in unit.functions:
        start, head = function.node.start_byte, unit.between(function.node.start_byte, function.declarator.start_byte)
        if (
            function.method
            or function.name == "main"
            or "__attribute__" in head
            or len(unit.by_name[function.name]) > 1
        ):
            continue
        if "..." in text_of(function.declarator) or "[[" in head or _stays_apart(unit, function):
            continue
        inlined = {*head.split()} & {"inline", "constexpr", "consteval"}
        recursive = _is_recursive(unit, function.name)
        for kind in KINDS:
            outside = function.name in unit.shared or (unit.language == "c" and "static" not in head)
            if kind == "always_inline" and (recursive or outside):
                continue
            if kind == "noinline" and inlined:
                continue
            inline = "inline " if kind == "always_inline" and "inline" not in head else ""
            change = Change((Patch(start, start, f"__attribute__(({kind})) {inline}"),))
            lines = unit.lines_of(function.node)
            yield Edit("attribute", function.name, (("kind", kind),), f"marks {function.name} {kind}", lines, change)


def anonymous_namespace(unit: Unit) -> Iterator[Edit]:
    """Puts everything before main into an anonymous namespace, so that the compiler need not export it to other
    files."""
    main = unit.main
    if main is None or main.node.parent is None or main.node.parent.type != "translation_unit":
        return
    if unit.others or "-Werror" in unit.flags or not _is_last(unit, main) or unit.words & _NAMED:
        return
    start = max([unit.prelude, *(end for _, end in unit.runtime)])
    stop = main.node.start_byte
    if start < stop and _may_be_hidden(unit, start, stop):
        patches = (Patch(start, start, "namespace {\n"), Patch(stop, stop, "}  // namespace\n"))
        yield Edit("anonymous_namespace", "", (), "hides everything but main from other files", (), Change(patches))


def _stays_apart(unit: Unit, function: Function) -> bool:
    """Whether the compiler refuses to inline a function, or an attribute cannot stand in front of it."""
    inside = effects(unit).of(function.body.start_byte, function.body.end_byte)
    return bool(
        (inside.words | inside.outside)
        & {"va_start", "setjmp", "_setjmp", "sigsetjmp", "alloca", "__builtin_apply", "__builtin_return_address"}
    )


def _is_last(unit: Unit, main: Function) -> bool:
    """Whether nothing follows main, and main itself declares no function."""
    after = [n for n in unit.source.root.children if n.start_byte > main.node.start_byte and n.type != "comment"]
    inside = [n for n in unit.nodes("function_declarator") if main.body.start_byte < n.start_byte < main.body.end_byte]
    return not after and not any(n.parent is not None and n.parent.type == "declaration" for n in inside)


def _is_recursive(unit: Unit, name: str) -> bool:
    """Whether a function calls itself, directly or through others."""
    reached = [f for called in effects(unit).closure(name).calls for f in unit.by_name.get(called, [])]
    return any(name in effects(unit).of(f.body.start_byte, f.body.end_byte).calls for f in reached)


def _may_be_hidden(unit: Unit, start: int, stop: int) -> bool:
    inside = [token for token in unit.tokens if start <= token.start < stop]
    texts = [token.text for token in inside if not token.directive]
    directives = {token.text for token in inside if token.directive}
    pairs = set(pairwise(texts))
    refused = {("operator", "new"), ("operator", "delete"), ("namespace", "{")}
    opens = any(
        texts[k] in ("struct", "class", "enum", "union") and texts[k + 1 : k + 3] == ["std", "::"]
        for k in range(len(texts))
    ) or any(texts[k : k + 3] == ["namespace", "std", "{"] for k in range(len(texts)))
    balanced = texts.count("{") == texts.count("}")
    clean = not pairs & refused and not opens and not {"extern", "main"} & set(texts)
    return bool(texts) and balanced and clean and not directives & {"include", "if", "ifdef", "ifndef", "pragma"}


def _pragma(unit: Unit, rule: str, text: str, choice: str) -> Edit:
    change = Change((Patch(unit.prelude, unit.prelude, text),))
    return Edit(rule, "", (("choice", choice.replace(",", "+")),), f"asks for {choice}", (), change)
