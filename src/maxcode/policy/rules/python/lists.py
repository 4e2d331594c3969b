"""Rules about lists: a set beside what is searched, a deque for a queue, a comprehension for what is filled."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading, method_call
from maxcode.policy.rules.python.library_types import ANY, SCALARS
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Variable


def set_lookup(unit: Unit) -> Iterable[Edit]:
    """Search a set of the same elements in place of a list that is only appended to.

    Elements and what is searched for must be numbers, texts or bytes: their hash agrees with their equality.
    """
    read = reading(unit)
    for variable in read.script.bindings if read else ():
        asked = [use for use in read.loads(variable) if may_be_searched(read, use)] if read else []
        if read is None or not asked:
            continue
        if not read.is_bound_by_names(variable):
            read.miss("set_lookup", asked[0], f"{variable[1]} comes from elsewhere, and may be a list or not")
        elif found := _set_lookup(read, variable):
            yield found


def may_be_searched(read: Reading, use: ast.Name) -> bool:
    """Whether something is searched for in what may be a list."""
    compare, found = read.script.parents[use], read.types.of(use)
    is_list = found == ANY or (isinstance(found, tuple) and found[0] == "list")
    return (
        is_list
        and isinstance(compare, ast.Compare)
        and compare.comparators == [use]
        and isinstance(compare.ops[0], ast.In | ast.NotIn)
    )


def _set_lookup(read: Reading, variable: Variable) -> Edit | None:
    script = read.script
    name = script.fresh(f"{variable[1]}_set")
    searches: list[ast.Name] = []
    patches: list[Patch] = []
    if deleted := [use for use in script.uses[variable] if isinstance(use.ctx, ast.Del)]:
        read.miss("set_lookup", deleted[0], f"{variable[1]} is deleted here")
        return None
    for use in read.stores(variable):
        statement = script.parents[use]
        is_empty = (
            isinstance(statement, ast.Assign) and statement.targets == [use] and is_empty_list(read, statement.value)
        )
        if not is_empty or not isinstance(statement, ast.Assign) or script.indent(statement) is None:
            read.miss("set_lookup", use, f"{variable[1]} is not made as an empty list, in a line of its own")
            return None
        patches.append(script.after(statement, f"{name} = set()"))
    for use in read.loads(variable):
        found = method_call(use, script)
        if found is not None and found[0] == "append" and len(found[1].args) == 1:
            patch = _added(read, found[1], name)
            if patch is None:
                read.miss("set_lookup", use, f"what is appended to {variable[1]} is no known number or text")
                return None
            patches += patch
        elif may_be_searched(read, use):
            if not _is_searched(read, use):
                read.miss("set_lookup", use, f"what is searched for in {variable[1]} is no known number or text")
                return None
            searches.append(use)
            patches.append(script.replaced(use, name))
        elif not is_looked_at(read, use):
            read.miss("set_lookup", use, f"{variable[1]} is changed here, or handed on")
            return None
    if not searches:
        return None
    what = f"searches a set beside the list {variable[1]}"
    return read.edit("set_lookup", f"{variable[1]} in {read.place(searches[0])}", what, patches, *searches)


def is_empty_list(read: Reading, value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return read.script.is_builtin(value.func, "list") and not value.args and not value.keywords
    return isinstance(value, ast.List) and not value.elts


def _added(read: Reading, call: ast.Call, name: str) -> list[Patch] | None:
    """The same element added to the set, after it was appended; None if it may have no hash."""
    script, value = read.script, call.args[0]
    statement = script.parents[call]
    if not isinstance(statement, ast.Expr) or script.indent(statement) is None or read.types.of(value) not in SCALARS:
        return None
    if isinstance(value, ast.Name | ast.Constant):
        return [script.after(statement, f"{name}.add({script.source(value)})")]
    if value.lineno != value.end_lineno:
        return None
    kept = script.fresh(f"{name}_new")
    made = script.before(statement, f"{kept} = {script.source(value)}")
    return [made, script.replaced(value, kept), script.after(statement, f"{name}.add({kept})")]


def _is_searched(read: Reading, use: ast.Name) -> bool:
    compare = read.script.parents[use]
    return isinstance(compare, ast.Compare) and read.types.of(compare.left) in SCALARS


def is_looked_at(read: Reading, use: ast.Name) -> bool:
    """Whether a use of a list neither changes it nor hands it to somebody else while the function goes on."""
    if _is_returned(read, use):
        return True
    match read.script.parents[use]:
        case ast.For(iter=over) | ast.comprehension(iter=over):
            return over is use
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is use
        case ast.Call(func=func) as call:
            is_joined = isinstance(func, ast.Attribute) and func.attr == "join" and read.types.of(func.value) == "str"
            return use in call.args and (is_joined or read.script.is_builtin(func, "len", "sorted", "sum", "print"))
        case ast.UnaryOp(op=ast.Not()) | ast.If() | ast.While():
            return True
    return False


def _is_returned(read: Reading, use: ast.Name) -> bool:
    """Whether the function whose variable it is ends with it, alone or in a tuple."""
    script, variable = read.script, read.script.variable(use)
    above = script.parents[use]
    above = script.parents[above] if isinstance(above, ast.Tuple) else above
    if variable is None or not isinstance(above, ast.Return) or script.is_in(above, ast.Try):
        return False
    return all(
        script.scope_of(one) is variable[0] for one in script.uses[variable]
    )  # no other function goes on with it


def popleft(unit: Unit) -> Iterable[Edit]:
    """Use a deque for a list whose first element is taken out, and which is used as a queue alone."""
    read = reading(unit)
    for variable in read.script.bindings if read else ():
        taken = [use for use in read.loads(variable) if _is_taken_out(read, use)] if read else []
        if read is None or not taken:
            continue
        if not read.is_bound_by_names(variable):
            read.miss("popleft", taken[0], f"{variable[1]} comes from elsewhere, and others may see it")
        elif found := _popleft(read, variable):
            yield found


def _is_taken_out(read: Reading, use: ast.Name) -> bool:
    found = method_call(use, read.script)
    return found is not None and found[0] == "pop" and _is_zero(found[1].args)


def _popleft(read: Reading, variable: Variable) -> Edit | None:
    script = read.script
    name = script.fresh("deque")
    patches = [script.at_start(f"from collections import {f'deque as {name}' if name != 'deque' else 'deque'}\n")]
    taken: list[ast.Name] = []
    for use in script.uses.get(variable, []):
        parent, found = script.parents[use], method_call(use, script)
        if script.is_in(use, ast.Try):
            read.miss("popleft", use, f"an error of {variable[1]} may be caught here, whose words would differ")
            return None
        if isinstance(use.ctx, ast.Store):
            if not isinstance(parent, ast.Assign) or parent.targets != [use] or not _is_new_list(read, parent.value):
                read.miss("popleft", use, f"{variable[1]} is no new list here")
                return None
            patches.append(script.replaced(parent.value, f"{name}({script.source(parent.value)})"))
        elif found is not None and _is_taken_out(read, use):
            taken.append(use)
            patches.append(Patch(script.span(use)[1], script.span(found[1])[1], ".popleft()"))
        elif not (_is_queue_method(found) or _is_asked(read, use)):
            read.miss("popleft", use, f"{variable[1]} is more than a queue here")
            return None
    what = f"takes from the front of a deque in place of the list {variable[1]}"
    return read.edit("popleft", f"{variable[1]} in {read.place(taken[0])}", what, patches, *taken) if taken else None


def _is_new_list(read: Reading, value: ast.expr) -> bool:
    is_made = (
        isinstance(value, ast.Call) and read.script.is_builtin(value.func, "list", "sorted") and not value.keywords
    )
    return is_made or isinstance(value, ast.List | ast.ListComp)


def _is_zero(arguments: list[ast.expr]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0


def _is_queue_method(found: tuple[str, ast.Call] | None) -> bool:
    if found is None:
        return False
    counts = {"append": 1, "extend": 1, "pop": 0, "clear": 0}
    return len(found[1].args) == counts.get(found[0], -1)


def _is_asked(read: Reading, use: ast.Name) -> bool:
    """Whether a use asks for the length, for emptiness, or for the first or last element."""
    match read.script.parents[use]:
        case ast.Call(func=func) as call:
            return use in call.args and read.script.is_builtin(func, "len")
        case ast.While(test=test) | ast.If(test=test):
            return test is use
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()):
            return value is use and _is_end(index)
    return False


def _is_end(index: ast.expr) -> bool:
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return isinstance(index.operand, ast.Constant) and index.operand.value == 1
    return isinstance(index, ast.Constant) and index.value == 0


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
    if not (isinstance(made, ast.Assign) and isinstance(loop, ast.For) and is_empty_list(read, made.value)):
        return None
    if len(made.targets) != 1 or not isinstance(target := made.targets[0], ast.Name) or loop.orelse:
        return None
    body, test = loop.body, ""
    if len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
        test, body = f" if {script.source(body[0].test)}", body[0].body
    element = _appended(read, body, target)
    if element is None:
        read.miss("comprehension", loop, f"the loop does more than append to {target.id}")
        return None
    if script.is_in(loop, ast.Try) or script.indent(made) is None:
        read.miss("comprehension", loop, "an error in the loop may be caught, or its line holds more")
        return None
    if not _is_closed(read, loop, target):
        read.miss("comprehension", loop, f"{target.id} or the loop's variables are used in or after it")
        return None
    if isinstance(element, ast.Tuple) and not script.source(element).startswith("("):
        return None
    written = f"[{script.source(element)} for {script.source(loop.target)} in {_iterated(read, loop.iter)}{test}]"
    patch = Patch(script.span(made.value)[0], script.span(loop)[1], written)
    what = f"fills {target.id} by a comprehension"
    return read.edit("comprehension", f"{target.id} in {read.place(loop)}", what, [patch], made, loop)


def _iterated(read: Reading, node: ast.expr) -> str:
    written = read.script.source(node)
    return f"({written})" if isinstance(node, ast.Tuple | ast.IfExp | ast.Lambda) and written[0] != "(" else written


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
    used = [use for one in variables if one is not None for use in read.script.uses.get(one, [])]
    of_list = [node for node in inside if isinstance(node, ast.Name) and node.id == target.id]
    return all(use in inside for use in used) and len(of_list) == 1


def _needs_scope(node: ast.AST) -> bool:
    return not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id == "super")
