"""Rules about lists: a set beside what is searched, a deque for a queue."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading, assigned, is_empty_list, is_later, method_call
from maxcode.policy.rules.python.inferred import gives_no_list
from maxcode.policy.rules.python.library_types import ANY, SCALARS
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script, Variable

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OF_INDICES = frozenset({"IndexError", "LookupError", "Exception", "BaseException"})


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
        named = assigned(statement)
        is_empty = named is not None and named[0] is use and is_empty_list(read, named[1])
        if not is_empty or not isinstance(statement, ast.stmt) or script.indent(statement) is None:
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


def _added(read: Reading, call: ast.Call, name: str) -> list[Patch] | None:
    """The same element added to the set, after it was appended; None if it may have no hash."""
    script, value = read.script, call.args[0]
    statement = script.parents[call]
    if not isinstance(statement, ast.Expr) or script.indent(statement) is None or read.types.of(value) not in SCALARS:
        return None
    if isinstance(value, ast.Name | ast.Constant):
        return [script.after(statement, f"{name}.add({script.source(value)})")]
    if value.lineno != value.end_lineno or isinstance(script.scope_of(statement), ast.ClassDef):
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
            is_read = gives_no_list(read.script, call, use, "len", "sorted", "sum", "print")
            return use in call.args and (is_joined or is_read)
        case ast.UnaryOp(op=ast.Not()) | ast.If() | ast.While():
            return True
    return False


def _is_returned(read: Reading, use: ast.Name) -> bool:
    """Whether the function whose variable it is ends with it, alone or in a tuple."""
    script, variable = read.script, read.script.variable(use)
    above = script.parents[use]
    above = script.parents[above] if isinstance(above, ast.Tuple) else above
    if variable is None or not isinstance(above, ast.Return) or script.is_in(above, ast.Try, ast.TryStar):
        return False
    return not any(is_later(script, one) for one in script.uses[variable])  # nothing goes on with it


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
        if script.may_catch(use) or (_may_fail(read, use) and _tells_errors(script)):
            read.miss("popleft", use, f"an error of {variable[1]} may be caught, whose words would differ")
            return None
        if isinstance(use.ctx, ast.Store):
            named = assigned(parent)
            if named is None or named[0] is not use or not _is_new_list(read, named[1]):
                read.miss("popleft", use, f"{variable[1]} is no new list here")
                return None
            patches.append(script.replaced(named[1], f"{name}({script.source(named[1])})"))
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


def _may_fail(read: Reading, use: ast.Name) -> bool:
    """Whether a use may ask an empty queue for an element: it is not the first in a turn or branch that is there for a
    queue that is not empty."""
    script, found = read.script, method_call(use, read.script)
    if not isinstance(script.parents[use], ast.Subscript) and (found is None or found[0] != "pop"):
        return False
    child: ast.AST = use
    for up in script.ancestors(use):
        if isinstance(up, ast.While | ast.If) and child in up.body and _is_filled(up.test, use.id):
            return any(_takes(script, one, use) for part in up.body for one in ast.walk(part))
        if isinstance(up, (*_LOOPS, ast.FunctionDef, ast.Lambda)):
            return True  # it may run more than once
        child = up
    return True


def _is_filled(test: ast.expr, name: str) -> bool:
    """Whether a condition says that a queue is not empty."""
    match test:
        case ast.Name(id=found) | ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=found)]):
            return found == name
        case ast.Compare(left=ast.Call() as length, ops=[ast.Gt()], comparators=[ast.Constant(value=int() as least)]):
            return least >= 0 and _is_filled(length, name)
        case ast.Compare(left=ast.Call() as length, ops=[ast.NotEq()], comparators=[ast.Constant(value=0)]):
            return _is_filled(length, name)
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_is_filled(one, name) for one in values)
    return False


def _takes(script: Script, node: ast.AST, use: ast.Name) -> bool:
    """Whether a node takes elements from a queue before a use of it."""
    if not isinstance(node, ast.Name) or node.id != use.id or script.span(node) >= script.span(use):
        return False
    found = method_call(node, script)
    return isinstance(node.ctx, ast.Store) or (found is not None and found[0] in ("pop", "clear"))


@lru_cache(maxsize=8)
def _tells_errors(script: Script) -> bool:
    """Whether the program looks at errors of indices that it catches."""
    handlers = [node for node in ast.walk(script.tree) if isinstance(node, ast.ExceptHandler)]
    if "exc_info" in script.text:
        return bool(handlers)
    types = [node.type for node in handlers if node.name and node.type]
    kinds = {one.id for kind in types for one in ast.walk(kind) if isinstance(one, ast.Name)}
    return not kinds.isdisjoint(OF_INDICES | script.assigned)


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
