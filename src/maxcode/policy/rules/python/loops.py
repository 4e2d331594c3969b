"""Rules about loops: the program's own statements in a function, text that grows in place, a length asked once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.library_types import ANY
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script

_STAYS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def into_function(unit: Unit) -> Iterable[Edit]:
    """Run the program's own loops inside a function, whose variables are found by number and not by name.

    Only where no function, class or lambda uses one of these variables.
    """
    read = reading(unit)
    if read is None:
        return
    body = [one for one in read.script.tree.body if not _is_text(one)]
    moved = [one for one in body if not isinstance(one, _STAYS)]
    first = next((number for number, one in enumerate(body) if not isinstance(one, _STAYS)), len(body))
    if any(isinstance(one, _STAYS) for one in body[first:]):
        return  # the order of what runs would change
    loops = [one for one in moved if any(isinstance(node, ast.For | ast.While) for node in ast.walk(one))]
    if not loops or not _is_apart(read, moved):
        return
    name = read.script.fresh("program")
    patches = [read.script.before(moved[0], f"def {name}():"), *indented(read, moved)]
    end = read.script.span(moved[-1])[1]
    line_end = read.script.data.find(b"\n", end)
    end = len(read.script.data) if line_end < 0 else line_end
    patches.append(Patch(end, end, f"\n\n\n{name}()"))
    yield read.edit("into_function", "the program", "runs the program's own statements in a function", patches, *loops)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_apart(read: Reading, moved: Sequence[ast.stmt]) -> bool:
    """Whether only these statements use the variables that they bind, and each has its lines for itself."""
    script = read.script
    inside = {node for statement in moved for node in ast.walk(statement)}
    if any(isinstance(node, (*_STAYS, ast.Lambda, ast.Global)) for node in inside):
        return False
    if any(isinstance(node, ast.Name) and node.id in ("NameError", "UnboundLocalError") for node in inside):
        return False  # its words would differ
    made = [node.annotation for node in inside if isinstance(node, ast.AnnAssign)]
    if any(isinstance(node, ast.Call | ast.NamedExpr) for one in made for node in ast.walk(one)):
        return False  # a function does not work them out
    if re.search("__annotations__|RecursionError", script.text):
        return False  # one call more
    if any(isinstance(node, ast.Try | ast.TryStar) and _tells_names(script, node) for node in inside):
        return False
    own = [variable for variable in script.bindings if variable[0] is script.tree]
    bound = [variable for variable in own if any(node in inside for node in script.bindings[variable])]
    nodes = [node for variable in bound for node in (*script.bindings[variable], *script.uses.get(variable, []))]
    is_shared = any(isinstance(node, ast.Global) for node in ast.walk(script.tree))
    is_shared = is_shared or any(name in read.types.outside for _, name in bound)
    lines = [script.indent(statement) == "" for statement in moved]
    return bool(moved) and not is_shared and all(node in inside for node in nodes) and all(lines)


def _tells_names(script: Script, block: ast.Try | ast.TryStar) -> bool:
    """Whether a block may show an error about a variable that has no value yet: a variable of a function has another
    one."""
    kinds = [ast.unparse(one.type) for one in block.handlers if one.name and one.type]
    if not any(word in kind for kind in kinds for word in ("Exception", "NameError")):
        return False
    used = {one for part in block.body for one in ast.walk(part) if isinstance(one, ast.Name)}
    firsts = ((nodes, uses[0]) for key, nodes in script.bindings.items() if (uses := script.uses.get(key)))
    return any(first in used and first not in nodes and isinstance(nodes[0], ast.Name) for nodes, first in firsts)


def indented(read: Reading, moved: Sequence[ast.stmt]) -> Iterable[Patch]:
    """Four blanks before each line from the first of the statements to the last, but for lines inside of a text."""
    script, last = read.script, moved[-1].end_lineno or moved[-1].lineno
    inside = {
        line
        for statement in moved
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    for line in range(moved[0].lineno, last + 1):
        start = script.offset(line, 0)
        if line not in inside and script.data[start : start + 1] != b"\n":
            yield Patch(start, start, "    ")


def append_in_place(unit: Unit) -> Iterable[Edit]:
    """Write ``text = text + a + b`` as ``text += a + b``, which does not copy the text.

    All parts must be texts.
    """
    read = reading(unit)
    for node in ast.walk(read.script.tree) if read else ():
        if read is not None and isinstance(node, ast.Assign) and (patch := _in_place(read, node)):
            name = read.script.source(node.targets[0])
            site = f"{name}, {_number(read, node, name)} in {read.place(node)}"
            yield read.edit("append_in_place", site, f"appends to {name} in place", [patch], node)


def _in_place(read: Reading, node: ast.Assign) -> Patch | None:
    parts: list[ast.expr] = []
    value = node.value
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        parts.append(value.right)
        value = value.left
    target = node.targets[0]
    is_name = len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.Name)
    if not is_name or len(parts) < 2 or not isinstance(target, ast.Name) or not isinstance(value, ast.Name):
        return None
    kinds = {read.types.of(part) for part in (value, *parts)}
    if target.id == value.id and ANY in kinds and kinds <= {ANY, "str"}:
        read.miss("append_in_place", node, f"not all of what becomes {target.id} is known to be text")
    if target.id != value.id or kinds != {"str"}:
        return None
    start, end = read.script.span(node.value)[0], read.script.span(value)[1]
    plus = re.match(rb"\s*\+\s*", read.script.data[end:])
    is_whole = read.script.data[read.script.span(target)[1] : start].strip() == b"="  # without parentheses
    if read.script.span(value)[0] != start or plus is None or not is_whole:
        return None
    return Patch(read.script.span(node)[0], end + plus.end(), f"{target.id} += ")


def _number(read: Reading, node: ast.Assign, name: str) -> int:
    """The number of an assignment among those of its function to the name, from 1."""
    scope = read.script.scope_of(node)
    alike = [
        one for one in ast.walk(scope) if isinstance(one, ast.Assign) and read.script.source(one.targets[0]) == name
    ]
    return 1 + sorted(alike, key=lambda one: one.lineno).index(node) if node in alike else 0


def length_once(unit: Unit) -> Iterable[Edit]:
    """Ask for the length of a text once before a ``while`` loop, and not in each turn.

    Only for a parameter of a function that is a text and is not bound in the loop.
    """
    read = reading(unit)
    loops = [node for node in ast.walk(read.script.tree) if isinstance(node, ast.While)] if read else []
    for number, loop in enumerate(loops, 1):
        if read is not None:
            yield from _lengths(read, loop, number)


def _lengths(read: Reading, loop: ast.While, number: int) -> Iterable[Edit]:
    script = read.script
    for node in ast.walk(loop.test):
        if not (isinstance(node, ast.Call) and script.is_builtin(node.func, "len") and len(node.args) == 1):
            continue
        name = node.args[0]
        variable = script.variable(name) if isinstance(name, ast.Name) else None
        if variable is None or not isinstance(name, ast.Name):
            continue
        if (found := read.types.of(name)) != "str":
            if found == ANY:
                read.miss("length_once", loop, f"{name.id} is not known to be a text")
            continue
        bound = script.bindings[variable]
        if not all(isinstance(one, ast.arg) for one in bound) or variable[0] is not script.scope_of(loop):
            continue
        if script.indent(loop) is None or script.is_in(node, ast.ListComp, ast.GeneratorExp):
            continue
        kept = script.fresh(f"{name.id}_length")
        patches = [script.before(loop, f"{kept} = {script.source(node)}"), script.replaced(node, kept)]
        site = f"{name.id}, loop {number} in {read.place(loop)}"
        yield read.edit("length_once", site, f"asks for the length of {name.id} once", patches, loop)
        return
