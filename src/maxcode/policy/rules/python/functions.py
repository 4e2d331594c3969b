"""A rule about functions: results of a pure recursion are kept."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.filling import called
from maxcode.policy.rules.python.library_types import SCALARS
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script

_PURE = ("abs", "chr", "divmod", "int", "len", "max", "min", "ord", "range", "str", "sum")
_STATEMENTS = (ast.If, ast.Return, ast.Assign, ast.AugAssign, ast.For, ast.While, ast.Pass, ast.Break, ast.Continue)
_EXPRESSIONS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.Subscript,
    ast.Slice, ast.Tuple,
)  # fmt: skip
_DEEP = frozenset({"RecursionError", "RuntimeError", "Exception", "BaseException"})
_KEYS = frozenset({"int", "str"})  # equal values of these types look alike; 0.0 and -0.0, or 1 and True, do not


def memo_table(unit: Unit) -> Iterable[Edit]:
    """Keep the results of a pure function that calls itself twice or more, by its arguments.

    Arguments are integers or texts in every call, results numbers, texts or nothing, and nothing else is read than
    parameters, local variables and constants.
    """
    read = reading(unit)
    for node in read.script.tree.body if read else ():
        if read is not None and isinstance(node, ast.FunctionDef) and _is_fit(read, node):
            yield _kept(read, node)


def _is_fit(read: Reading, function: ast.FunctionDef) -> bool:
    """Whether the results of a function may be kept; of one that calls itself twice, what hinders is kept."""
    script = read.script
    variable = (script.tree, function.name)
    own = [use for use in script.uses.get(variable, []) if script.scope_of(use) is function]
    body = _body(function)
    if len(own) < 2 or not body or script.indent(function) is None or script.indent(body[0]) is None:
        return False
    why = _hindrance(read, function, len(own) < len(script.uses[variable]))
    if why:
        read.miss("memo_table", own[0], why)
    return not why


def _hindrance(read: Reading, function: ast.FunctionDef, is_called: bool) -> str:
    """Why the results of a recursion may not be kept; empty if they may."""
    script, types, parameters = read.script, read.types, function.args.args
    if not types.is_known(function) or not is_called:
        return f"{function.name} is called from outside, or in another way than with plain arguments"
    calls = [script.parents[use] for use in script.uses[script.tree, function.name]]
    kinds = [{types.of(call.args[n]) for call in calls if isinstance(call, ast.Call)} for n in range(len(parameters))]
    if not kinds or not all(len(kind) == 1 and kind <= _KEYS for kind in kinds):
        return f"not all arguments of {function.name} are known to be whole numbers or texts"
    if types.returned(function) not in SCALARS:
        return f"what {function.name} returns is no known number or text"
    asks = (isinstance(node, ast.Compare) and _asks_which(script, node) for node in ast.walk(script.tree))
    if re.search(r"\bis_(?:not)?\b", script.text) or any(asks):  # also those of ``operator``
        return f"the program asks by `is` which object something is, and {function.name} would return the same again"
    if _catches_depth(script, function):
        return f"the program may catch that {function.name} calls itself too deep, which it would do less often"
    bound = all(script.bindings[function, parameter.arg] == [parameter] for parameter in parameters)
    if not bound or not all(_is_pure(read, function, one) for one in _body(function)):
        return f"{function.name} does more than work out a result from its arguments"
    return ""


def _catches_depth(script: Script, function: ast.FunctionDef) -> bool:
    """Whether an error of a recursion that is too deep may be caught: with known results it goes less deep."""
    found = set[str]()
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Try | ast.TryStar):
            types = [one.type for one in node.handlers]
            names = {one.id for kind in types if kind for one in ast.walk(kind) if isinstance(one, ast.Name)}
            leaves = (ast.Return, ast.Break, ast.Continue)
            ends = any(isinstance(one, leaves) for part in node.finalbody for one in ast.walk(part))
            is_caught = None in types or ends or not names.isdisjoint(_DEEP | script.assigned)
        else:
            is_caught = isinstance(node, ast.With) and not script.hands_on(node)
        if isinstance(node, ast.Try | ast.TryStar | ast.With) and is_caught:
            found |= called(script, node.body)
    return function.name in found


def _asks_which(script: Script, compare: ast.Compare) -> bool:
    """Whether ``is`` compares objects that are neither constants nor types."""
    is_which = any(isinstance(op, ast.Is | ast.IsNot) for op in compare.ops)
    compared = (compare.left, *compare.comparators)
    return is_which and not any(isinstance(one, ast.Constant) or _is_type(script, one) for one in compared)


def _is_type(script: Script, node: ast.expr) -> bool:
    """Whether an expression is a type or another builtin, which no function of numbers and texts returns."""
    return script.is_builtin(node.func, "type") if isinstance(node, ast.Call) else script.is_builtin(node)


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    """The statements without the docstring."""
    first = function.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if is_text else function.body


def _is_pure(read: Reading, function: ast.FunctionDef, statement: ast.stmt) -> bool:
    return all(_is_pure_node(read, function, node) for node in ast.walk(statement))


def _is_pure_node(read: Reading, function: ast.FunctionDef, node: ast.AST) -> bool:
    script = read.script
    if isinstance(node, ast.stmt):
        return isinstance(node, _STATEMENTS)
    if isinstance(node, ast.Call):
        is_own = read.types.function(node) is function
        return not node.keywords and (is_own or script.is_builtin(node.func, *_PURE))
    if isinstance(node, ast.Name):
        return _is_own_value(read, function, node)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and read.types.of(node.value) == "str"
    return not isinstance(node, ast.expr) or isinstance(node, _EXPRESSIONS)


def _is_own_value(read: Reading, function: ast.FunctionDef, name: ast.Name) -> bool:
    """Whether a name is a builtin, the function, a local variable, or a scalar that the program binds once."""
    variable = read.script.variable(name)
    if variable is None:
        return read.script.is_builtin(name, *_PURE)
    if variable[0] is function:
        return True
    bound = read.script.bindings[variable]
    if variable == (read.script.tree, function.name):
        return isinstance(read.script.parents[name], ast.Call)
    is_once = len(bound) == 1 and isinstance(bound[0], ast.Name) and bound[0] in _at_top(read)
    return is_once and read.types.of(name) in SCALARS


def _at_top(read: Reading) -> list[ast.expr]:
    """The targets of the assignments that the program makes once, outside of every loop and function."""
    return [target for one in read.script.tree.body if isinstance(one, ast.Assign) for target in one.targets]


def _kept(read: Reading, function: ast.FunctionDef) -> Edit:
    script, body = read.script, _body(function)
    table, key = script.fresh(f"{function.name}_known"), script.fresh("key")
    names = [parameter.arg for parameter in function.args.args]
    written = names[0] if len(names) == 1 else f"({', '.join(names)})"
    indent = script.indent(body[0])
    start = script.offset(body[0].lineno, 0)
    head = f"{indent}{key} = {written}\n{indent}if {key} in {table}:\n{indent}    return {table}[{key}]\n"
    patches = [script.before(function, f"{table} = {{}}\n\n"), Patch(start, start, head)]
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            patches.append(script.replaced(node.value, f"{table}.setdefault({key}, {script.source(node.value)})"))
    what = f"keeps the results of {function.name} by its arguments"
    return read.edit("memo_table", function.name, what, patches, function)
