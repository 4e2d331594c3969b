"""A rule about nests of loops over numpy arrays: numba compiles them, where it is installed.

numba keeps the order of what a nest does, so sums are the same; whole numbers of it overflow, so the nest may only
count, and index with, small ones.  As with ``vectorise``, the new code asks for the types when it runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.arrays import asked_of, asks, fit_in, is_free, is_kept, loops_of, names_in, numpy_of
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.library_types import ANY, NEVER
from maxcode.policy.rules.python.loops import indented
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.script import Script
from maxcode.policy.rules.python.turns import Unfit, indices, is_surely_bound

NUMBA, NJIT = "numba", "njit_nest"
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_STEPS = (ast.Add, ast.Sub, ast.Mult)
_COMPARED = ("min", "max", "abs")


def njit_nest(unit: Unit) -> Iterable[Edit]:
    """Compile a nest of loops over numpy arrays with numba, where its arguments are arrays of real numbers.

    The program must import numpy.  A request for the rule is refused if numba is not in the problem's environment.
    """
    read = reading(unit)
    numpy = numpy_of(read.script) if read else ""
    for function, number, loop in nests(read) if read and numpy else ():
        assert read is not None
        try:
            nest = Nest(read, loop)
        except Unfit as why:
            read.miss(NJIT, loop, str(why))
            continue
        yield _edit(read, nest, numpy, (function, number))


def nests(read: Reading) -> Iterator[tuple[ast.FunctionDef, int, ast.For]]:
    """The outermost loops that hold others: function, number in it from 1, loop."""
    script = read.script
    for function in (node for node in ast.walk(script.tree) if isinstance(node, ast.FunctionDef)):
        for number, loop in enumerate(loops_of(script, function), 1):
            inside = [node for part in loop.body for node in ast.walk(part)]
            holds = any(isinstance(node, ast.For) for node in inside) and not any(asks(script, one) for one in inside)
            if holds and not script.is_in(loop, ast.For, ast.While) and not is_kept(script, loop):
                yield function, number, loop


@final
@dataclass(slots=True)
class Nest:
    """A nest that numba may compile, or that may run on lists.  ``arrays``: with the number of their indices;
    ``stored``: those that change.

    ``places``, ``reals``: names from outside that must be whole numbers, and real numbers.  ``sized``: names and axes
    of which the size is asked for.  ``is_compiled``: by numba, whose whole numbers overflow.
    """

    read: Reading
    loop: ast.For
    is_compiled: bool = True
    arrays: dict[str, int] = field(default_factory=dict)
    stored: dict[str, None] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)
    reals: dict[str, None] = field(default_factory=dict)
    sized: list[tuple[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        script, loop = self.read.script, self.loop
        if script.may_catch(loop) or "\t" in (script.indent(loop) or "\t"):
            raise Unfit("an error in the loop may be caught, or its lines hold more")
        counters = [node.target for node in ast.walk(loop) if isinstance(node, ast.For)]
        for target in counters:
            if not isinstance(target, ast.Name) or not is_free(self.read, self._of(target), target):
                raise Unfit(f"{script.source(target)} is more than the variable of its loop")
        counted = {target.id for target in counters if isinstance(target, ast.Name)}
        self._statement(loop, counted)
        self._sort(counted)

    def _of(self, target: ast.expr) -> ast.For:
        found = self.read.script.parents[target]
        assert isinstance(found, ast.For)
        return found

    # -------------------------------------------------------------------------------------------------- statements

    def _statement(self, node: ast.stmt, counted: set[str]) -> None:
        match node:
            case ast.For(iter=ast.Call(func=func, args=bounds, keywords=[]), body=body, orelse=[]) if (
                self.read.script.is_builtin(func, "range") and len(bounds) < 3
            ):
                for bound in bounds:
                    self._whole(bound, counted)
                self._block(body, counted)
            case ast.If(test=test, body=body, orelse=orelse):
                self._test(test, counted)
                self._block(body, counted)
                self._block(orelse, counted)
            case ast.Assign(targets=[target], value=value):
                self._bound(node, target, value, counted)
            case ast.AugAssign(target=target, op=op, value=value) if isinstance(op, _STEPS):
                self._bound(node, target, value, counted)
            case _:
                raise Unfit(f"it holds more than loops over range, conditions and assignments: line {node.lineno}")

    def _block(self, body: list[ast.stmt], counted: set[str]) -> None:
        for one in body:
            self._statement(one, counted)

    def _bound(self, node: ast.Assign | ast.AugAssign, target: ast.expr, value: ast.expr, counted: set[str]) -> None:
        self._value(value, counted)
        has_elements = any(isinstance(one, ast.Subscript) for one in ast.walk(value))
        if isinstance(target, ast.Subscript):
            self._element(target, counted)
            self.stored[indices(target)[0].id] = None
            return
        if not isinstance(target, ast.Name) or target.id in counted:
            raise Unfit(f"{self.read.script.source(target)} is no name of its own")
        is_multiplied = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult)
        if self.is_compiled and not has_elements and (is_multiplied or not isinstance(value, ast.Constant)):
            raise Unfit(f"{target.id} may become a whole number that is too large for numba")
        self._is_local(target)

    def _is_local(self, target: ast.Name) -> None:
        """Unfit unless a name is bound anew in the block of all its uses."""
        script = self.read.script
        variable = script.variable(target)
        uses = script.uses.get(variable, []) if variable is not None else []
        inside = names_in(self.loop)
        first = script.parents[uses[0]] if uses else None
        bound = script.bindings.get(variable, []) if variable is not None else []
        is_local = all(use in inside for use in uses) and all(isinstance(one, ast.Name) for one in bound)
        if not is_local or not isinstance(first, ast.Assign) or target.id in map(_id, ast.walk(first.value)):
            raise Unfit(f"{target.id} has a value before the loops, or is used after them")
        above = script.parents[first]
        blocks = [getattr(above, name, None) for name in ("body", "orelse")]
        block = next(one for one in blocks if isinstance(one, list) and first in one)
        after = {name for one in block[block.index(first) :] for name in names_in(one)}
        if not all(use in after for use in uses):
            raise Unfit(f"{target.id} may have no value where it is used")

    # ------------------------------------------------------------------------------------------------- expressions

    def _test(self, node: ast.expr, counted: set[str]) -> None:
        match node:
            case ast.BoolOp(values=values):
                for value in values:
                    self._test(value, counted)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._test(operand, counted)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                self._value(left, counted)
                self._value(right, counted)
            case _:
                raise Unfit(f"its condition is more than comparisons: {self.read.script.source(node)}")

    def _value(self, node: ast.expr, counted: set[str]) -> None:
        match node:
            case ast.Constant(value=value) if type(value) is float or (type(value) is int and value < 1 << 31):
                return
            case ast.Name(id=name):
                if name not in counted:
                    self.reals[name] = None
            case ast.Subscript():
                self._element(node, counted)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._value(operand, counted)
            case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _STEPS):
                is_whole = isinstance(op, ast.Mult) and not self._is_real(left) and not self._is_real(right)
                if is_whole and self.is_compiled:
                    raise Unfit("a product of whole numbers may be too large for numba")
                self._value(left, counted)
                self._value(right, counted)
            case ast.Call() if not self.is_compiled and (given := compared(self.read.script, node)):
                for one in given:
                    self._value(one, counted)
            case _:
                where = "in numba are + - *" if self.is_compiled else "in lists are + - *, abs, min and max"
                raise Unfit(f"the same {where} of numbers and elements, not {self.read.script.source(node)}")

    def _is_real(self, node: ast.expr) -> bool:
        """Whether a value holds an element or a real number of the text."""
        return any(
            isinstance(one, ast.Subscript) or (isinstance(one, ast.Constant) and type(one.value) is float)
            for one in ast.walk(node)
        )

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether a value may be made of a name that gets a whole number in the loops."""
        made = (
            one for one in ast.walk(self.loop) if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        )
        whole = {_id(one.targets[0]) for one in made if type(getattr(one.value, "value", None)) is int}
        return not self._is_real(node) and any(name.id in whole for name in names_in(node))

    def _element(self, node: ast.Subscript, counted: set[str]) -> None:
        array, written = indices(node)
        if self.arrays.setdefault(array.id, len(written)) != len(written) or array.id in counted:
            raise Unfit(f"{array.id} is used with and without an index")
        for index in written:
            self._whole(index, counted)

    def _whole(self, node: ast.expr, counted: set[str]) -> None:
        """An index or a bound: names, whole numbers, sizes, and sums of these."""
        match node:
            case ast.Constant(value=value) if type(value) is int and value < 1 << 31:
                return
            case ast.Name(id=name):
                if name not in counted:
                    self.places[name] = None
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self._whole(operand, counted)
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                self._whole(left, counted)
                self._whole(right, counted)
            case ast.Call(func=func, args=[ast.Name()], keywords=[]) if self.read.script.is_builtin(func, "len"):
                return
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=axis)
            ):
                self.sized.append((name, axis))
            case _:
                raise Unfit(f"{self.read.script.source(node)} is more than a place or a size")

    def _sort(self, counted: set[str]) -> None:
        """Finds out which names come from outside; Unfit if one is of another kind, or may have no value."""
        inside = names_in(self.loop)
        local = counted | {node.id for node in inside if isinstance(node.ctx, ast.Store)}
        numbers = local | {*self.places} | {*self.reals}
        if wrong := sorted((numbers & {*self.arrays}) | (local & {*self.places})):
            raise Unfit(f"{wrong[0]} is a number and an array, or an index that the loops work out")
        if any(type(axis) is not int or not 0 <= axis < self.arrays.get(name, 0) for name, axis in self.sized):
            raise Unfit("it asks for the size of an axis that the array does not have")
        negated = (one.operand for one in ast.walk(self.loop) if isinstance(one, ast.UnaryOp))
        if self.is_compiled and any(map(self._is_whole, negated)):
            raise Unfit("minus a whole number that numba makes a real one may be -0.0")
        self.reals = {name: None for name in self.reals if name not in local and name not in self.places}
        kinds = {
            **dict.fromkeys(self.arrays, ""),
            **dict.fromkeys(self.places, "int"),
            **dict.fromkeys(self.reals, "float"),
        }
        for node in inside:
            if node.id in local or self.read.script.is_builtin(node, "range", "len", *_COMPARED):
                continue
            if node.id not in kinds or self.read.types.of(node) not in (ANY, NEVER, kinds[node.id]):
                raise Unfit(f"{node.id} is known to be of another type, or only its size is used")
            if not is_surely_bound(self.read, self.loop, node):
                raise Unfit(f"{node.id} may have no value where the loops begin")


def compared(script: Script, call: ast.Call) -> list[ast.expr]:
    """The values of which ``min``, ``max`` or ``abs`` gives one; none for any other call."""
    is_one = len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List)
    given = call.args[0].elts if is_one and isinstance(call.args[0], ast.Tuple | ast.List) else call.args
    least = 1 if script.is_builtin(call.func, "abs") else 2
    is_plain = script.is_builtin(call.func, *_COMPARED) and not call.keywords and len(given) >= least
    is_plain = is_plain and not any(isinstance(one, ast.Starred) for one in given) and not (least == 1 and is_one)
    return list(given) if is_plain and (least == 2 or len(given) == 1) else []


def _id(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _edit(read: Reading, nest: Nest, numpy: str, place: tuple[ast.FunctionDef, int]) -> Edit:
    script, loop, (function, number) = read.script, nest.loop, place
    fit, patches = fit_in(script, numpy)
    name, compiler = script.fresh(f"{function.name}_{number}"), _compiler(script)
    given = ", ".join([*nest.arrays, *nest.places, *nest.reals])
    head = f"@{compiler or script.fresh('njit')}(boundscheck=True)\ndef {name}({given}):\n"
    lines = "" if compiler else f"from numba import njit{_renamed(script)}\n"
    patches = [script.at_start(f"{lines}\n\n{head}{_lines(script, loop)}\n\n"), *patches]
    indent = script.indent(loop) or ""
    arrays = [(one, axes, None, 0, 0) for one, axes in nest.arrays.items()]
    asked = asked_of(fit, ("0", "1"), (nest.reals, nest.places), arrays)
    first = f"type({next(iter(nest.arrays))}) is {numpy}.ndarray"
    tests = " and ".join([first, asked, *(f"{one}.flags.writeable" for one in nest.stored)])
    start = script.offset(loop.lineno, 0)
    block = f"{indent}if {tests}:\n{indent}    {name}({given})\n{indent}else:\n"
    patches += [Patch(start, start, block), *indented(read, [loop])]
    return read.edit(NJIT, f"loop {number} in {function.name}", "compiles a nest of loops with numba", patches, loop)


def _compiler(script: Script) -> str:
    """The name of numba's compiler in the program, if it imports it once."""
    for node in script.tree.body:
        names = node.names if isinstance(node, ast.ImportFrom) and node.module == NUMBA else []
        for one in names:
            if one.name == "njit" and len(script.bindings[script.tree, one.asname or one.name]) == 1:
                return one.asname or one.name
    return ""


def _renamed(script: Script) -> str:
    name = script.fresh("njit")
    return "" if name == "njit" else f" as {name}"


def _lines(script: Script, loop: ast.For) -> str:
    """The lines of a loop as the body of a function."""
    start, end = script.offset(loop.lineno, 0), script.span(loop)[1]
    lines = script.data[start:end].decode().split("\n")
    return "".join(f"    {line.removeprefix(script.indent(loop) or '')}".rstrip() + "\n" for line in lines)
