"""What the rules about numpy arrays share: the module's name, the loops of a function, and how types are asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading, is_compiled
from maxcode.policy.rules.python.script import Script

_HEAD = "def {name}(first, last, reals, places, *arrays):"
_FIT = f"""{_HEAD}
    if not all(type(one) is float or type(one) is {{numpy}}.float64 for one in reals):
        return False
    if not all(type(one) is int and -1 << 31 < one < 1 << 31 for one in (first, last, *places)) or first >= last:
        return False
    for array, axes, axis, low, high in arrays:
        if type(array) is not {{numpy}}.ndarray or array.dtype != {{numpy}}.float64 or array.ndim != axes:
            return False
        if axis is not None and (first + low < 0 or last + high > array.shape[axis]):
            return False
    return True


"""


def numpy_of(script: Script) -> str:
    """The name under which a program imports numpy at its top; empty if it does not, or the name is bound again."""
    imports = (node for node in script.tree.body if isinstance(node, ast.Import))
    tops = (node for node in imports if script.offset(node.lineno, 0) < script.start)
    names = [one.asname or one.name for node in tops for one in node.names if one.name == "numpy"]
    bound = [name for (_, name), made in script.bindings.items() for _ in made]
    return names[0] if names and bound.count(names[0]) == 1 else ""


def loops_of(script: Script, function: ast.FunctionDef) -> list[ast.For]:
    """The ``for`` loops of a function, in the order of the text; none of one that is compiled, or made by a rule."""
    if is_made(script, function) or is_compiled(script, function):
        return []
    found = [node for node in ast.walk(function) if isinstance(node, ast.For) and script.scope_of(node) is function]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def is_made(script: Script, function: ast.FunctionDef) -> bool:
    """Whether a function is the one that asks for types."""
    return script.source(function).startswith(_HEAD.format(name=function.name))


def is_kept(script: Script, loop: ast.For) -> bool:
    """Whether a loop is what an earlier edit keeps for arguments of other types."""
    child: ast.AST = loop
    for up in script.ancestors(loop):
        if isinstance(up, ast.If) and child in up.orelse and asks(script, up):
            return True
        child = up
    return False


def asks(script: Script, node: ast.AST) -> bool:
    """Whether a statement asks for the types of arrays, as an edit writes it."""
    return isinstance(node, ast.If) and ".ndarray" in script.source(node.test)


def is_free(read: Reading, loop: ast.For, name: ast.Name) -> bool:
    """Whether nobody needs the value that a loop leaves in its variable: each use stands in a loop that binds it."""
    script, variable = read.script, read.script.variable(name)
    uses = script.uses.get(variable, []) if variable is not None else []
    scope = script.scope_of(loop)
    return (
        variable is not None
        and variable[0] is scope
        and all(script.scope_of(use) is scope and (use in names_in(loop) or _in_own_loop(script, use)) for use in uses)
    )


def _in_own_loop(script: Script, use: ast.Name) -> bool:
    if isinstance(use.ctx, ast.Store):
        return True
    child: ast.AST = use
    for up in script.ancestors(use):
        targets = ast.walk(up.target) if isinstance(up, ast.For) and child in up.body else ()
        if any(isinstance(one, ast.Name) and one.id == use.id for one in targets):
            return True
        child = up
    return False


def names_in(node: ast.AST) -> list[ast.Name]:
    """All names in a node."""
    return [one for one in ast.walk(node) if isinstance(one, ast.Name)]


def fit_in(script: Script, numpy: str) -> tuple[str, list[Patch]]:
    """The name of the function that asks for the types, and the patch that adds it if the program has none."""
    made = _FIT.format(name="fits", numpy=numpy)
    if made.strip() in script.text:
        return "fits", []
    name = script.fresh("fits")
    return name, [script.at_start(f"\n\n{_FIT.format(name=name, numpy=numpy)}")]


def asked_of(
    fit: str, ends: tuple[str, str], kinds: tuple[Iterable[str], Iterable[str]], arrays: Sequence[tuple[object, ...]]
) -> str:
    """The call that asks for types.  ``ends``: of the loop; ``kinds``: names of real and of whole numbers; ``arrays``:
    name, number of axes, axis that the loop goes along or None, least and largest shift."""
    named = [f"({', '.join(names)}{',' * (len([*names]) == 1)})" for names in map(tuple, kinds)]
    written = [f"({', '.join(map(str, one))})" for one in arrays]
    return f"{fit}({', '.join([*ends, *named, *written])})"
