"""A rule about nests of loops over numpy arrays: they run on lists of the elements.

numpy makes an object for each element that a loop asks for, which takes longer than the arithmetic; a list has it
already.  Only operations count that give the same bits for Python's real numbers and for numpy's: ``+ - *``, ``abs``,
``min``, ``max`` and comparisons.  ``/`` and ``**`` do something else with zero and with what is too large.  As with
``vectorise``, the new code asks for the types when it runs; warnings of numpy about overflow are not given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.arrays import asked_of, fit_in, names_in, numpy_of
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.lists import OF_INDICES
from maxcode.policy.rules.python.loops import indented
from maxcode.policy.rules.python.njit import Nest, compared, nests
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script
from maxcode.policy.rules.python.turns import Unfit, fresh_in, indices
from maxcode.policy.rules.python.vectorise import WARNINGS

_NAME = "nest_on_lists"
_THREADS = r"\b(?:concurrent|threading|_thread|joblib|ThreadPool\w*)\b"


def nest_on_lists(unit: Unit) -> Iterable[Edit]:
    """Run a nest of loops over numpy arrays on lists of their elements, where the arrays hold real numbers.

    The program must import numpy.
    """
    read = reading(unit)
    numpy = numpy_of(read.script) if read else ""
    for function, number, loop in nests(read) if read and numpy else ():
        assert read is not None
        try:
            nest = Nest(read, loop, is_compiled=False)
            _check(nest)
        except Unfit as why:
            read.miss(_NAME, loop, str(why))
            continue
        yield _edit(read, nest, numpy, f"loop {number} in {function.name}")


def _check(nest: Nest) -> None:
    """Unfit if the nest stores nothing, or may store a whole number, which an array would make a real one."""
    if any(word in nest.read.script.text for word in WARNINGS):
        raise Unfit("the program says what becomes of numpy's warnings")
    if re.search(_THREADS, nest.read.script.text) or any(
        re.fullmatch(_THREADS, one) for one in nest.read.types.outside
    ):
        raise Unfit("another thread may store elements at the same time")
    if _tells_errors(nest.read.script):
        raise Unfit("an error of an index may be caught, whose words would differ")
    if not nest.stored:
        raise Unfit("it stores no elements")
    made = [one for one in ast.walk(nest.loop) if isinstance(one, ast.Assign)]
    stored = [one.value for one in made if isinstance(one.targets[0], ast.Subscript)]
    if whole := [one for one in stored if not _is_real(nest, one, frozenset())]:
        raise Unfit(f"{nest.read.script.source(whole[0])} may be a whole number")


def _tells_errors(script: Script) -> bool:
    """Whether the program looks at the words of an error of an index that it catches, and not only at its type."""
    if re.search("exc_info|format_exc|print_exc|logging", script.text):
        return True
    for node in ast.walk(script.tree):
        if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None:
            kinds = {one.id for one in ast.walk(node.type) if isinstance(one, ast.Name)}
            inside = (one for part in node.body for one in names_in(part) if one.id == node.name)
            calls = [(one, script.parents[one]) for one in inside]
            shown = [one for one, call in calls if not (isinstance(call, ast.Call) and _asks_type(script, call, one))]
            if shown and not kinds.isdisjoint(OF_INDICES | script.assigned):
                return True
    return False


def _asks_type(script: Script, call: ast.Call, given: ast.Name) -> bool:
    return given in call.args and script.is_builtin(call.func, "type", "isinstance")


def _is_real(nest: Nest, node: ast.expr, seen: frozenset[str]) -> bool:
    """Whether a value is surely a real number.  ``seen``: names that are looked at already."""
    match node:
        case ast.Constant(value=value):
            return type(value) is float
        case ast.Subscript():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_real(nest, operand, seen)
        case ast.BinOp(left=left, right=right):
            return _is_real(nest, left, seen) or _is_real(nest, right, seen)
        case ast.Call():
            return all(_is_real(nest, one, seen) for one in compared(nest.read.script, node))
        case ast.Name(id=name):
            made = [one.value for one in ast.walk(nest.loop) if isinstance(one, ast.Assign) and _binds(one, name)]
            is_local = name in seen or all(_is_real(nest, one, seen | {name}) for one in made)
            return is_local if made else name in nest.reals
    return False


def _binds(node: ast.Assign, name: str) -> bool:
    return isinstance(node.targets[0], ast.Name) and node.targets[0].id == name


def _edit(read: Reading, nest: Nest, numpy: str, site: str) -> Edit:
    script, loop = read.script, nest.loop
    fit, patches = fit_in(script, numpy)
    lists = {name: fresh_in(script, loop, f"{name}_items") for name in nest.arrays}
    arrays = [(name, axes, None, 0, 0) for name, axes in nest.arrays.items()]
    tests = [
        f"type({next(iter(nest.arrays))}) is {numpy}.ndarray",
        asked_of(fit, ("0", "1"), (nest.reals, nest.places), arrays),
    ]
    for name in nest.stored:
        tests += [f"{name}.flags.writeable", f"{name}.flags.forc"]
        tests += [f"not {numpy}.may_share_memory({name}, {other})" for other in nest.arrays if other != name]
    given = ", ".join(f"{name}.tolist()" for name in lists)
    back = [f"{one}[...] = {numpy}.array({lists[one]}, dtype=float).reshape({one}.shape)" for one in nest.stored]
    lines = ["if (", f"    {tests[0]}", *(f"    and {one}" for one in tests[1:]), "):"]
    lines += [f"    {', '.join(lists.values())} = {given}", "    try:"]
    after = ["    finally:", *(f"        {one}" for one in back), "else:"]
    indent, start = script.indent(loop) or "", script.offset(loop.lineno, 0)
    block = [*(f"{indent}{one}" for one in lines), _on_lists(read, loop, lists), *(f"{indent}{one}" for one in after)]
    patches += [Patch(start, start, "\n".join(block) + "\n"), *indented(read, [loop])]
    return read.edit(_NAME, site, "runs a nest of loops on lists of the elements of its arrays", patches, loop)


def _on_lists(read: Reading, loop: ast.For, lists: dict[str, str]) -> str:
    """The lines of a loop with elements of lists in place of those of arrays, deeper by eight blanks."""
    script = read.script
    start, end = script.offset(loop.lineno, 0), script.span(loop)[1]
    text = script.data[start:end]
    elements = [node for node in ast.walk(loop) if isinstance(node, ast.Subscript) and _is_element(read, node, lists)]
    for node in sorted(elements, key=script.span, reverse=True):
        array, written = indices(node)
        element = lists[array.id] + "".join(f"[{script.source(one)}]" for one in written)
        first, last = (place - start for place in script.span(node))
        text = text[:first] + element.encode() + text[last:]
    return "\n".join(f"        {line}" if line.strip() else line for line in text.decode().split("\n"))


def _is_element(read: Reading, node: ast.Subscript, lists: dict[str, str]) -> bool:
    """Whether it is an element of an array, and not only its row."""
    above, inner = read.script.parents[node], node.value
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    is_row = isinstance(above, ast.Subscript) and above.value is node
    return isinstance(inner, ast.Name) and inner.id in lists and not is_row
