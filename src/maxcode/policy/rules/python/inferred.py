"""What type an expression of a script has in every run, as far as its text proves it.

A type is a word of ``SCALARS``, or a word with the type of its elements: ``("list", "str")``.  ``NEVER`` is the type of
what is not known yet, ``ANY`` that of what the text does not prove.  Parameters have types only if each use of their
function is a plain call.  The types of all variables are found together, until nothing changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import final

from maxcode.policy.rules.python.library_types import ANY, CALLS, MATH, NEVER, NUMBERS, SCALARS, STDIN, TEXT, Type
from maxcode.policy.rules.python.script import Script, Variable, script_of

_ROUNDS = 12  # of the search for a fixed point; deeper chains stay unknown
_READS = frozenset({"index", "count", "copy"})  # methods of a list that change nothing
_LATER = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp)  # they run when the loop around may have ended
_LOOKS = frozenset(
    {"len", "sorted", "sum", "min", "max", "enumerate", "set", "list", "tuple", "reversed", "any", "all", "map", "zip"}
)


def join(one: Type, other: Type) -> Type:
    """The least type of both."""
    if one == other or other == NEVER:
        return one
    if one == NEVER:
        return other
    if isinstance(one, tuple) and isinstance(other, tuple) and one[0] == other[0]:
        return one[0], join(one[1], other[1])
    return ANY


def _held(element: Type) -> Type:
    """The type of an element of a container: whoever reaches it there may change what it holds."""
    return (element[0], ANY) if isinstance(element, tuple) else element


@final
class Types:
    """The types of a script's variables and expressions.

    ``outside``: names that other files use; they may call what has one, and bind it.
    """

    def __init__(self, script: Script, outside: frozenset[str] = frozenset()) -> None:
        self.script = script
        self.outside = outside
        self._bindings = {**script.bindings, **self._loop_bindings()}
        self._known: dict[Variable, Type] = dict.fromkeys(self._bindings, NEVER)
        self._returned: dict[ast.AST, Type] = dict.fromkeys(self._functions.values(), NEVER)
        for _ in range(_ROUNDS):
            if not self._round():
                return
        self._known = dict.fromkeys(self._bindings, ANY)
        self._returned = dict.fromkeys(self._returned, ANY)

    def _round(self) -> bool:
        """One more pass over all bindings; whether a type has changed."""
        known = {variable: self._of_variable(variable) for variable in self._known}
        returned = {function: self._result(function) for function in self._returned}
        changed = known != self._known or returned != self._returned
        self._known, self._returned = known, returned
        return changed

    # ---------------------------------------------------------------------------------------------------- functions

    @cached_property
    def _functions(self) -> dict[Variable, ast.FunctionDef]:
        """The functions of the module that are bound once, not decorated, and only called, with plain arguments."""
        found = {}
        for variable, nodes in self.script.bindings.items():
            node = nodes[0]
            is_single = len(nodes) == 1 and variable[0] is self.script.tree and variable[1] not in self.outside
            if not is_single or not isinstance(node, ast.FunctionDef):
                continue
            if _is_plain(node) and all(self._calls(variable, len(node.args.args))):
                found[variable] = node
        return found

    def _calls(self, variable: Variable, count: int) -> Iterator[bool]:
        for use in self.script.uses.get(variable, []):
            call = self.script.parents[use]
            is_call = isinstance(call, ast.Call) and call.func is use and not call.keywords
            given = call.args if isinstance(call, ast.Call) else []
            yield is_call and len(given) == count and not any(isinstance(one, ast.Starred) for one in given)

    def function(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the module that a call means, if it is only called."""
        variable = self.script.variable(call.func) if isinstance(call.func, ast.Name) else None
        return None if variable is None else self._functions.get(variable)

    def is_known(self, function: ast.FunctionDef) -> bool:
        """Whether a function is bound once and only called with plain arguments."""
        return self._functions.get((self.script.tree, function.name)) is function

    def returned(self, function: ast.FunctionDef) -> Type:
        return self._returned.get(function, ANY)

    def _result(self, function: ast.AST) -> Type:
        assert isinstance(function, ast.FunctionDef)
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
            return ANY
        found: Type = NEVER if _always_returns(function.body) else "none"
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and self.script.scope_of(node) is function:
                found = join(found, "none" if node.value is None else self.of(node.value))
        return found

    # ---------------------------------------------------------------------------------------------------- variables

    def _of_variable(self, variable: Variable) -> Type:
        is_open = (
            variable[1] in self.outside if variable[0] is self.script.tree else isinstance(variable[0], ast.ClassDef)
        )
        found: Type = ANY if is_open else NEVER  # others may set it
        for node in self._bindings[variable]:
            found = join(found, self._of_binding(node))
        if isinstance(found, tuple) and found[0] == "list":
            for use in self.script.uses.get(variable, []):
                found = join(found, ("list", _held(self._put_in(use))))
        return found

    def _put_in(self, use: ast.Name) -> Type:
        """What a use of a list appends to it; NEVER if it is another use."""
        attribute = self.script.parents[use]
        call = self.script.parents.get(attribute)
        if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call):
            return NEVER
        if call.func is not attribute or not self._is_appended(attribute):
            return NEVER
        return self.of(call.args[0]) if attribute.attr == "append" else self.element(call.args[0])

    def _of_binding(self, node: ast.AST) -> Type:
        parent = self.script.parents.get(node)
        match node, parent:
            case ast.arg(), _:
                return self._of_parameter(node)
            case ast.Name(), ast.Assign(value=value) if node in parent.targets:
                return self.of(value) if len(parent.targets) == 1 else _held(self.of(value))
            case ast.Name(), ast.AnnAssign(value=ast.expr() as value):
                return self.of(value)
            case ast.Name(), ast.NamedExpr():
                return self.of(parent)
            case ast.Name(), ast.AugAssign(op=op, value=value):
                return self._binary(op, self._known.get(self.script.variable(node) or (node, ""), ANY), self.of(value))
            case ast.Name(), ast.For(target=target, iter=over) | ast.comprehension(target=target, iter=over):
                return self.element(over) if target is node else ANY
            case ast.Name(), ast.Tuple():
                return self._of_part(node, parent)
        return ANY

    def _of_part(self, node: ast.Name, parent: ast.Tuple) -> Type:
        """One of several names that are bound together: the numbers or words of a line, or an index and an element."""
        above = self.script.parents[parent]
        place = parent.elts.index(node)
        if any(isinstance(one, ast.Starred) for one in parent.elts):
            return ANY
        match above:
            case ast.Assign(value=ast.Tuple(elts=values)) if len(values) == len(parent.elts):
                is_known = len(above.targets) == 1 and not any(isinstance(one, ast.Starred) for one in values)
                return self.of(values[place]) if is_known else ANY
            case ast.Assign(value=value):
                return self.element(value)
            case ast.For(iter=over) | ast.comprehension(iter=over):
                is_counted = isinstance(over, ast.Call) and self.script.is_builtin(over.func, "enumerate")
                if is_counted and isinstance(over, ast.Call) and len(parent.elts) == 2 and over.args:
                    return "int" if place == 0 else self.element(over.args[0])
        return ANY

    def _of_parameter(self, node: ast.arg) -> Type:
        function = self.script.parents[self.script.parents[node]]
        if not isinstance(function, ast.FunctionDef) or not self.is_known(function):
            return ANY
        place = function.args.args.index(node)
        uses = self.script.uses.get((self.script.tree, function.name), [])
        found: Type = NEVER if uses else ANY
        for use in uses:
            call = self.script.parents[use]
            assert isinstance(call, ast.Call)
            found = join(found, self.of(call.args[place]))
        return found

    # -------------------------------------------------------------------------------------------------- expressions

    def of(self, node: ast.expr) -> Type:
        """The type of an expression."""
        match node:
            case ast.Constant(value=value):
                return {"NoneType": "none"}.get(type(value).__name__, type(value).__name__)
            case ast.JoinedStr():
                return "str"
            case ast.Name():
                return self._of_name(node)
            case ast.BinOp(op=op, left=left, right=right):
                return self._binary(op, self.of(left), self.of(right))
            case ast.UnaryOp(op=ast.Not()):
                return "bool"
            case ast.UnaryOp(operand=operand):
                return {"int": "int", "bool": "int", "float": "float", NEVER: NEVER}.get(str(self.of(operand)), ANY)
            case ast.BoolOp(values=values):
                return self._joined(values)
            case ast.IfExp(body=body, orelse=orelse):
                return self._joined([body, orelse])
            case ast.NamedExpr(value=value):
                return _held(self.of(value))  # by two names, maybe
            case ast.Compare(left=left, comparators=others):
                return "bool" if all(self.of(one) in SCALARS for one in (left, *others)) else ANY
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return type(node).__name__.lower(), _held(self._joined(elements))
            case ast.ListComp(elt=element):
                return "list", _held(self.of(element))
            case ast.Subscript(value=value, slice=index):
                return self._item(self.of(value), index)
            case ast.Call():
                return self._call(node)
        return ANY

    def element(self, node: ast.expr) -> Type:
        """The type of what a loop over an expression gives."""
        if self.script.is_stdin(node):
            return "str"
        found = self.of(node)
        if isinstance(found, tuple):
            return found[1]
        return {"str": "str", "bytes": "int", NEVER: NEVER}.get(found, ANY)

    def _joined(self, nodes: list[ast.expr]) -> Type:
        found: Type = NEVER
        for node in nodes:
            found = join(found, ANY if isinstance(node, ast.Starred) else self.of(node))
        return found

    def _of_name(self, node: ast.Name) -> Type:
        variable = self.script.variable(node)
        found = self._known.get(self._binder(node, variable), ANY) if variable is not None else ANY
        if isinstance(found, tuple) and found[0] in ("list", "set") and not self._keeps_elements(variable):
            return found[0], ANY
        return found

    def _loop_bindings(self) -> dict[Variable, list[ast.AST]]:
        """What binds the variables of each ``for`` loop inside of it: nothing else reaches a use in its body."""
        found: dict[Variable, list[ast.AST]] = {}
        for loop in (node for node in ast.walk(self.script.tree) if isinstance(node, ast.For)):
            inside = {node for part in (loop.target, *loop.body) for node in ast.walk(part)}
            read = {one for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
            for name in (one for one in ast.walk(loop.target) if isinstance(one, ast.Name) and one not in read):
                variable = self.script.variable(name)
                bound = self.script.bindings[variable] if variable is not None else []
                found[loop, name.id] = [node for node in bound if node in inside]
        return found

    def _binder(self, use: ast.Name, variable: Variable) -> Variable:
        """The innermost loop that binds the variable of a use in its body, or else the variable."""
        child: ast.AST = use
        for up in self.script.ancestors(use):
            if up is variable[0] or isinstance(up, _LATER):
                break
            if isinstance(up, ast.For) and child in up.body and (up, use.id) in self._bindings:
                return up, use.id
            child = up
        return variable

    def _keeps_elements(self, variable: Variable | None) -> bool:
        """Whether no use of a list can put another element into it, or give it to somebody who could."""
        uses = self.script.uses.get(variable, []) if variable is not None else []
        return all(isinstance(use.ctx, ast.Store) or self._only_looks(use) for use in uses)

    def _only_looks(self, use: ast.Name) -> bool:
        match self.script.parents[use]:
            case ast.For(iter=over) | ast.comprehension(iter=over):
                return over is use
            case ast.Subscript(value=value, ctx=ast.Load()):
                return value is use
            case ast.Compare(left=left, ops=ops, comparators=others):
                is_searched = others[-1] is use and isinstance(ops[-1], ast.In | ast.NotIn)
                return is_searched or all(self.of(one) != ANY for one in (left, *others) if one is not use)
            case ast.Call(func=func) as call:
                joined = self.of(func.value) if isinstance(func, ast.Attribute) and func.attr == "join" else ANY
                return use in call.args and (joined != ANY or gives_no_list(self.script, call, use, *_LOOKS, "print"))
            case ast.Starred() as star:
                above = self.script.parents[star]
                return isinstance(above, ast.Call) and self.script.is_builtin(above.func, "print", "min", "max")
            case ast.Attribute(attr=name) as attribute:
                return name in _READS or self._is_appended(attribute)
        return False

    def _is_appended(self, attribute: ast.Attribute) -> bool:
        """Whether something is appended whose type is not known yet."""
        call = self.script.parents[attribute]
        is_call = isinstance(call, ast.Call) and call.func is attribute and len(call.args) == 1
        return is_call and attribute.attr in ("append", "extend")

    def _item(self, found: Type, index: ast.expr) -> Type:
        if found in ("str", "bytes"):
            return found if found == "str" or isinstance(index, ast.Slice) else "int"
        if isinstance(found, tuple) and found[0] in ("list", "tuple", "range"):
            return found if isinstance(index, ast.Slice) else found[1]
        return NEVER if found == NEVER else ANY

    def _binary(self, op: ast.operator, left: Type, right: Type) -> Type:
        if NEVER in (left, right):
            return NEVER
        if left in NUMBERS and right in NUMBERS:
            if isinstance(op, ast.Pow):
                return ANY  # an integer, a float or a complex number
            if left == right == "bool" and isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
                return "bool"
            if isinstance(op, ast.Div):
                return "float"
            return "float" if "float" in (left, right) else "int"
        if left == "str" and (isinstance(op, ast.Mod) or (right == "str" and isinstance(op, ast.Add))):
            return "str"
        if isinstance(op, ast.Mult) and {left, right} in ({"str", "int"}, {"str", "bool"}):
            return "str"
        return ANY

    def _call(self, node: ast.Call) -> Type:
        if (function := self.function(node)) is not None:
            return self.returned(function)
        match node.func:
            case ast.Name(id=name) if self.script.is_builtin(node.func):
                return self._builtin(name, node)
            case ast.Attribute(value=value, attr=name) if self.script.is_stdin(value):
                return STDIN.get(name, ANY)
            case ast.Attribute(value=value, attr=name) if self.script.imported(value, "math"):
                is_odd = name in ("floor", "ceil") and not all(self.of(one) in (*NUMBERS, NEVER) for one in node.args)
                return ANY if is_odd else MATH.get(name, ANY)  # an object may say what its floor is
            case ast.Attribute(value=value, attr=name):
                owner = self.of(value)
                return TEXT.get(name, ANY) if owner == "str" else NEVER if owner == NEVER else ANY
        return ANY

    def _builtin(self, name: str, node: ast.Call) -> Type:
        if any(isinstance(one, ast.Starred) for one in node.args):
            return CALLS.get(name, ANY)
        if name in ("sorted", "list", "tuple", "set") and len(node.args) == 1:
            return "list" if name == "sorted" else name, _held(self.element(node.args[0]))
        if name in ("list", "set") and not node.args:
            return name, NEVER
        if name == "map" and len(node.args) == 2:
            maker = node.args[0]
            is_type = (
                isinstance(maker, ast.Name) and maker.id in ("int", "float", "str") and self.script.is_builtin(maker)
            )
            return "iterator", maker.id if is_type and isinstance(maker, ast.Name) else ANY
        if name == "enumerate":
            return "iterator", ANY
        if name in ("min", "max") and len(node.args) > 1 and not node.keywords:
            return self._joined(node.args)
        if name in ("min", "max") and len(node.args) == 1 and not node.keywords:
            return self.element(node.args[0])
        if name == "sum" and len(node.args) == 1 and not node.keywords:
            return {"int": "int", "bool": "int", NEVER: NEVER}.get(str(self.element(node.args[0])), ANY)
        if name == "abs" and len(node.args) == 1:
            return {"int": "int", "bool": "int", "float": "float", NEVER: NEVER}.get(str(self.of(node.args[0])), ANY)
        return CALLS.get(name, ANY)


def gives_no_list(script: Script, call: ast.Call, use: ast.expr, *names: str) -> bool:
    """Whether a call is one of these builtins and does not give back the list itself, as ``max`` of two lists does."""
    is_start = isinstance(call.func, ast.Name) and call.func.id == "sum" and call.args[0] is not use
    is_choice = script.is_builtin(call.func, "min", "max") and len(call.args) > 1
    return script.is_builtin(call.func, *names) and not is_start and not is_choice


def _is_plain(function: ast.FunctionDef) -> bool:
    """Whether a function has nothing but plain parameters."""
    given = function.args
    return not (
        function.decorator_list
        or given.posonlyargs
        or given.kwonlyargs
        or given.vararg
        or given.kwarg
        or given.defaults
    )


def _always_returns(body: list[ast.stmt]) -> bool:
    """Whether a block never ends by itself."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=then, orelse=orelse):
            return _always_returns(then) and _always_returns(orelse)
        case ast.While(test=ast.Constant(value=True)) as loop:
            return not any(isinstance(node, ast.Break) for node in ast.walk(loop))
    return False


@lru_cache(maxsize=64)
def types_of(text: str, outside: frozenset[str] = frozenset()) -> Types | None:
    """The types of a text, of which other files use the names ``outside``; None if it is no script for rules."""
    script = script_of(text)
    return None if script is None else Types(script, outside)
