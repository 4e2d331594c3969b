"""A rule about lists that a loop fills: a comprehension does it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading, assigned, is_empty_list, is_later, is_read_at_once
from maxcode.policy.rules.python.library_types import ANY, NEVER, SCALARS, Type
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script, Variable, first_iter

_QUIET = (
    *("abs", "bool", "chr", "divmod", "enumerate", "float", "input", "int", "len", "list", "map", "ord", "range"),
    *("repr", "reversed", "round", "str", "tuple", "zip"),
)
_COMPARING = ("frozenset", "max", "min", "set", "sorted", "sum")  # they run what the elements say about == < and +


def comprehension(unit: Unit) -> Iterable[Edit]:
    """Fill a new list by a comprehension in place of a loop that appends."""
    read = reading(unit)
    for node in ast.walk(read.script.tree) if read else ():
        for body in _bodies(node):
            for made, loop in itertools.pairwise(body):
                if read is not None and (found := _comprehension(read, made, loop)):
                    yield found


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    if not isinstance(node, ast.ClassDef):
        for field in ("body", "orelse", "finalbody"):
            found = getattr(node, field, None)
            if isinstance(found, list):
                yield found


def _comprehension(read: Reading, made: ast.stmt, loop: ast.stmt) -> Edit | None:
    script = read.script
    if not isinstance(loop, ast.For) or (named := assigned(made)) is None or not is_empty_list(read, named[1]):
        return None
    target, empty = named
    if not isinstance(target, ast.Name) or loop.orelse:
        return None
    body, test = loop.body, ""
    if len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        test, body = f" if {_written(script, body[0].test)}", body[0].body
    element = _appended(read, body, target)
    if element is None:
        read.miss("comprehension", loop, f"the loop does more than append to {target.id}")
        return None
    if script.may_catch(loop) or script.indent(made) is None:
        read.miss("comprehension", loop, "an error in the loop may be caught, or its line holds more")
        return None
    if not _is_closed(read, loop, target):
        read.miss("comprehension", loop, f"{target.id} or the loop's variables are used in or after it")
        return None
    if why := _hindrance(read, loop, target):
        read.miss("comprehension", loop, why)
        return None
    written = f"[{script.source(element)} for {script.source(loop.target)} in {_written(script, loop.iter)}{test}]"
    patch = Patch(script.span(empty)[0], script.span(loop)[1], written)
    what = f"fills {target.id} by a comprehension"
    return read.edit("comprehension", f"{target.id} in {read.place(loop)}", what, [patch], made, loop)


def _written(script: Script, node: ast.expr) -> str:
    """What a comprehension goes over or tests, in parentheses where it needs them."""
    written = script.source(node)
    is_open = isinstance(node, ast.Tuple | ast.IfExp) and not isinstance(
        ast.parse(f"({written}[0])", mode="eval").body, ast.Subscript
    )
    return f"({written})" if is_open else written


def _hindrance(read: Reading, loop: ast.For, target: ast.Name) -> str:
    """Why a comprehension may do something else than a loop; empty if it does the same."""
    script, scope = read.script, read.script.scope_of(loop)
    variable = script.variable(target)
    used = script.uses[variable] if variable is not None else []
    generators = [node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.GeneratorExp)]
    if isinstance(scope, ast.ClassDef):
        return "a comprehension does not see the names of a class"
    is_seen = variable is not None and _is_open(read, variable)
    later = [use for use in used if is_later(script, use)]
    if (is_seen or later) and not _is_quiet(read, loop):
        return f"what the loop calls may look at {target.id}"
    if "RecursionError" in script.text and not _is_quiet(read, loop):
        return "what the loop calls may count how deep calls go, and a comprehension may take one more frame"
    is_again = script.is_in(loop, ast.For, ast.While)
    if isinstance(scope, ast.FunctionDef) and any(is_again or use.lineno < loop.lineno for use in later):
        return f"a function that looks at {target.id} may be kept, and an error may end the loop"
    if not all(is_read_at_once(script, one) or not _looks_later(one, loop) for one in generators):
        return "a generator keeps the variable of the loop"
    if isinstance(scope, ast.FunctionDef) and scope.name in called(script, loop.body):
        return f"{scope.name} calls itself in the loop, and a comprehension may take one more frame of each call"
    return ""


def _looks_later(generator: ast.GeneratorExp, loop: ast.For) -> bool:
    """Whether a generator looks at a variable of the loop after it was made."""
    bound = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    at_once = {*ast.walk(first_iter(generator))}
    return any(isinstance(node, ast.Name) and node.id in bound for node in {*ast.walk(generator)} - at_once)


def _is_quiet(read: Reading, loop: ast.For) -> bool:
    """Whether a loop runs no code of the program but its own: it goes over a known type, and calls only builtins."""
    script, types = read.script, read.types
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call) and node is not _append_of(loop)]
    held = [node for node in ast.walk(loop) if isinstance(node, ast.Name | ast.Subscript)]
    if not all(_is_quiet_call(read, call) for call in calls) or any(types.of(one) == ("iterator", ANY) for one in held):
        return False  # an iterator may be a map of a function of the program
    if _has_operators(script) and not _is_plain(read, loop, calls):
        return False
    return types.of(loop.iter) != ANY or script.is_stdin(loop.iter)


def _is_quiet_call(read: Reading, call: ast.Call) -> bool:
    script, types = read.script, read.types
    if isinstance(call.func, ast.Attribute):
        is_quiet = types.of(call) != ANY
    elif script.is_builtin(call.func, *_COMPARING):
        is_quiet = not call.keywords and all({types.of(one), types.element(one)} & SCALARS for one in call.args)
    else:
        is_quiet = not call.keywords and script.is_builtin(call.func, *_QUIET)
    return is_quiet and all(types.of(one) != ANY or script.is_builtin(one, "int", "float", "str") for one in call.args)


def _has_operators(script: Script) -> bool:
    """Whether an operator, an attribute or an index may run code of the program."""
    special = any(re.fullmatch("__.*__", name) and name != "__init__" for _, name in script.bindings)
    return special or "property" in script.text or "defaultdict" in script.text


def _is_plain(read: Reading, loop: ast.For, calls: list[ast.Call]) -> bool:
    """Whether all values in a loop are known through and through, so that no operator is one of the program."""
    append, methods = _append_of(loop), [call.func for call in calls]
    for node in ast.walk(loop):
        above = read.script.parents[node]
        if isinstance(above, ast.Attribute) and read.script.parents[above] is append:
            continue  # the list
        if isinstance(node, ast.Attribute) and node not in methods and read.script.parents[node] is not append:
            return False
        if isinstance(node, ast.Name) and not read.script.is_builtin(node) and not _is_deep(read.types.of(node)):
            return False
    return True


def _is_deep(found: Type) -> bool:
    return _is_deep(found[1]) if isinstance(found, tuple) else found == NEVER or found in SCALARS


def _append_of(loop: ast.For) -> ast.expr | None:
    last = loop.body[0].body[0] if isinstance(loop.body[0], ast.If) else loop.body[0]
    return last.value if isinstance(last, ast.Expr) else None


def called(script: Script, body: list[ast.stmt]) -> set[str]:
    """The names of all functions that statements call, and that those functions of the program call in turn."""
    made = (node for nodes in script.bindings.values() for node in nodes if isinstance(node, ast.FunctionDef))
    bodies: dict[str, list[ast.stmt]] = {}  # of all methods of one name
    for function in made:
        bodies.setdefault(function.name, []).extend(function.body)
    found: set[str] = set()
    left = [body]
    while left:
        calls = (node.func for part in left.pop() for node in ast.walk(part) if isinstance(node, ast.Call))
        names = {getattr(one, "attr", getattr(one, "id", "")) for one in calls} - found
        found |= names
        left += [bodies[name] for name in names if name in bodies]
    return found


def _appended(read: Reading, body: list[ast.stmt], target: ast.Name) -> ast.expr | None:
    """What the only statement of a loop appends to the list."""
    match body:
        case [
            ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[element]) as call
            )
        ]:
            is_same = read.script.variable(name) == read.script.variable(target) is not None
            return element if is_same and not call.keywords and not isinstance(element, ast.Starred) else None
    return None


def _is_closed(read: Reading, loop: ast.For, target: ast.Name) -> bool:
    """Whether nothing outside the loop uses its variables, and nothing inside uses the list or the loop's scope."""
    inside = list(ast.walk(loop))
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda | ast.Call) and _needs_scope(node)
           for node in inside):  # fmt: skip
        return False
    bound = [node for node in ast.walk(loop.target) if isinstance(node, ast.Name)]
    if not all(isinstance(node, ast.Name | ast.Tuple | ast.expr_context) for node in ast.walk(loop.target)):
        return False
    variables = {read.script.variable(name) for name in bound}
    if None in variables or read.script.variable(target) in variables:
        return False
    if any(one is not None and _is_open(read, one) for one in variables):
        return False
    used = [use for one in variables if one is not None for use in read.script.uses.get(one, [])]
    of_list = [node for node in inside if isinstance(node, ast.Name) and node.id == target.id]
    return all(use in inside for use in used) and len(of_list) == 1


def _is_open(read: Reading, variable: Variable) -> bool:
    """Whether other files may use a variable."""
    return variable[0] is read.script.tree and variable[1] in read.types.outside


def _needs_scope(node: ast.AST) -> bool:
    return not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id == "super")
