"""What the turns of a loop over numpy arrays do, written for all turns at once.

A loop is read as its head, the places that it goes over, and as terms: expressions of elements, of real numbers that
are the same in all turns, and of names that a turn binds before.  Only operations count that give the same bits for
numpy's single numbers and for its arrays: ``+ - * /``, ``abs`` and ``sqrt``.  What the text does not prove is kept as
what must be asked when the program runs: which names must be real numbers, whole numbers, and arrays with which places.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.library_types import ANY, NEVER
from maxcode.policy.rules.python.script import Script

_MOST = 1 << 31  # of a whole number in the text: as a real number it is exact
_SAME_BITS = ("abs", "absolute", "fabs", "sqrt")  # functions of numpy
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_POWER = "numpy works out ** of an array in another way than of one number (x * x is the same for both)"


class Unfit(Exception):
    """Why a loop cannot be written for all turns at once."""


@final
@dataclass(frozen=True, slots=True)
class Head:
    """A loop from place ``first`` up to ``last``.

    ``index``: the name of the place, if it has one; ``items``: the array behind each name of an element.
    ``sized``: names whose length or shape is asked for.
    """

    index: str
    items: dict[str, str]
    first: ast.expr
    last: ast.expr
    sized: tuple[str, ...]


def head_of(script: Script, loop: ast.For) -> Head:
    """The head of a loop over ``range``, an array, or arrays side by side; Unfit for another one."""
    match loop.target, loop.iter:
        case ast.Name(id=item), ast.Name(id=array):
            return Head("", {item: array}, ast.Constant(0), _length([array]), (array,))
        case ast.Name(id=index), ast.Call(func=func, args=[*bounds], keywords=[]) if script.is_builtin(func, "range"):
            if not 1 <= len(bounds) <= 2:
                raise Unfit("its steps are not of one place")
            first, last = [ast.Constant(0), *bounds][-2:]
            return Head(index, {}, first, last, (*_sized(script, first), *_sized(script, last)))
        case ast.Tuple(elts=[ast.Name(id=index), ast.Name(id=item)]), ast.Call(
            func=func, args=[ast.Name(id=array)], keywords=[]
        ) if script.is_builtin(func, "enumerate") and index != item:
            return Head(index, {item: array}, ast.Constant(0), _length([array]), (array,))
        case ast.Tuple(elts=targets), ast.Call(func=func, args=given, keywords=[]) if script.is_builtin(func, "zip"):
            names, arrays = ([one.id for one in nodes if isinstance(one, ast.Name)] for nodes in (targets, given))
            if len({*names}) == len(targets) == len(arrays) == len(given):
                items = dict(zip(names, arrays, strict=True))
                return Head("", items, ast.Constant(0), _length(arrays), tuple(dict.fromkeys(arrays)))
    raise Unfit("it does not go over range, an array, or arrays side by side")


def _length(arrays: Sequence[str]) -> ast.expr:
    """The number of turns of a loop over whole arrays side by side."""
    lengths = [f"len({name})" for name in dict.fromkeys(arrays)]
    written = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
    return ast.parse(written, mode="eval").body


def _sized(script: Script, bound: ast.expr) -> tuple[str, ...]:
    """The names whose size a bound of a range asks for; Unfit if it holds more than these, names and whole numbers."""
    match bound:
        case ast.Constant(value=value) if type(value) is int:
            return ()
        case ast.Name():
            return ()
        case ast.Call(func=func, args=[ast.Name(id=name)], keywords=[]) if script.is_builtin(func, "len"):
            return (name,)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant()):
            return (name,)
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return (*_sized(script, left), *_sized(script, right))
    raise Unfit("a bound of its range is more than a size or a whole number")


@final
@dataclass(slots=True)
class Turns:
    """The terms of a loop.  ``numpy``: the module's name in the program.

    ``last``: the end of the loop, or the name that it has in the new code.
    ``reals``, ``places``: names that must be real numbers, and whole numbers.  ``arrays``: (name, axes, axis that the
    loop goes along or None) of arrays of real numbers, with the least and the largest shift of a place along it.
    ``under_condition``: terms are worked out for turns that do not reach them, so they must not be able to fail.
    """

    read: Reading
    loop: ast.For
    numpy: str
    head: Head = field(init=False)
    last: ast.expr = field(init=False)
    bound: frozenset[str] = field(init=False)
    reals: dict[str, None] = field(default_factory=dict)
    places: dict[str, None] = field(default_factory=dict)
    arrays: dict[tuple[str, int, int | None], tuple[int, int]] = field(default_factory=dict)
    temporary: dict[str, bool] = field(default_factory=dict)
    under_condition: bool = False

    def __post_init__(self) -> None:
        self.head = head_of(self.read.script, self.loop)
        is_short = isinstance(self.head.last, ast.Name | ast.Constant)
        self.last = self.head.last if is_short else ast.Name(self.fresh("end"), ast.Load())
        stored = (node for node in ast.walk(self.loop) if isinstance(node, ast.Name))
        self.bound = frozenset(node.id for node in stored if not isinstance(node.ctx, ast.Load))
        ends = [node for end in (self.head.first, self.head.last) for node in ast.walk(end)]
        names = [node.id for node in ends if isinstance(node, ast.Name)] + [*self.head.items.values()]
        if changed := sorted(self.bound & {*names}):
            raise Unfit(f"{changed[0]} changes in the loop and says how far it goes")
        for node in ast.walk(self.loop.iter):
            if isinstance(node, ast.Name) and node.id in self.head.items.values():
                self._must_be_array(node)

    def fresh(self, wanted: str) -> str:
        return fresh_in(self.read.script, self.loop, wanted)

    def term(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """A term for all turns, and whether it is an array (or else one number, the same for all)."""
        match node:
            case ast.Constant(value=value) if type(value) is float or (type(value) is int and value <= _MOST):
                return node, False
            case ast.Name():
                return self._name(node)
            case ast.Subscript():
                return self.element(node)
            case ast.UnaryOp(op=ast.USub() as op, operand=operand):
                inner, is_array = self.term(operand)
                return ast.UnaryOp(op, inner), is_array
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() as op, left=left, right=right):
                if isinstance(op, ast.Div) and self.under_condition:
                    raise Unfit("it divides under a condition")
                (one, is_one), (other, is_other) = self.term(left), self.term(right)
                return ast.BinOp(one, op, other), is_one or is_other
            case ast.BinOp(op=ast.Pow()):
                raise Unfit(_POWER)
            case ast.Call(func=func, args=[given], keywords=[]) if self._gives_same_bits(func):
                inner, is_array = self.term(given)
                return ast.Call(func, [inner], []), is_array
        raise Unfit(f"only + - * /, abs and numpy's sqrt are the same for arrays, not {self.read.script.source(node)}")

    def _gives_same_bits(self, func: ast.expr) -> bool:
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            return func.value.id == self.numpy and func.attr in _SAME_BITS
        return self.read.script.is_builtin(func, "abs")

    def _name(self, node: ast.Name) -> tuple[ast.expr, bool]:
        name = node.id
        if name in self.temporary:
            return ast.Name(name, ast.Load()), self.temporary[name]
        if name in self.head.items:
            return self._whole(self.head.items[name]), True
        if name in self.bound:
            raise Unfit(f"{name} is a term and changes from turn to turn")
        self.must_be(self.reals, node, "float")
        return ast.Name(name, ast.Load()), False

    def _whole(self, array: str) -> ast.expr:
        """The elements of an array that the loop goes over by itself."""
        self._along(array, 1, 0, 0)
        over = ast.Name(array, ast.Load())
        if len({*self.head.items.values()}) == 1:
            return over
        return ast.Subscript(over, ast.Slice(None, self.last), ast.Load())

    def must_be(self, kind: dict[str, None], node: ast.Name, known: str) -> None:
        """Notes that a name must be of a kind, unless the text proves that type; Unfit if it proves another one."""
        found = self.read.types.of(node)
        if found not in (ANY, NEVER, known):
            raise Unfit(f"{node.id} is known to be of another type than {known}")
        self.must_be_bound(node)
        if found != known:
            kind[node.id] = None

    def must_be_bound(self, node: ast.Name) -> None:
        """Unfit if a name may have no value where the loop begins: asking for its type would be an error."""
        if not is_surely_bound(self.read, self.loop, node):
            raise Unfit(f"{node.id} may have no value where the loop begins")

    def _must_be_array(self, node: ast.Name) -> None:
        if node.id in self.bound or self.read.types.of(node) not in (ANY, NEVER):
            raise Unfit(f"{node.id} changes in the loop, or is known to be no array")

    def element(self, node: ast.Subscript) -> tuple[ast.expr, bool]:
        """An element of an array, at one place or at all places of the loop."""
        array, written = indices(node)
        self._must_be_array(array)
        self.must_be_bound(array)
        shifts = [self._shift(one) for one in written]
        axes = [axis for axis, shift in enumerate(shifts) if shift is not None]
        if len(axes) > 1 or len(written) > 3:
            raise Unfit(f"{self.read.script.source(node)} is no row or column")
        places = [self._slice(shift) if shift is not None else self._place(one)
                  for one, shift in zip(written, shifts, strict=True)]  # fmt: skip
        self._along(array.id, len(written), axes[0] if axes else None, shifts[axes[0]] or 0 if axes else 0)
        index = places[0] if len(places) == 1 else ast.Tuple(places, ast.Load())
        return ast.Subscript(ast.Name(array.id, ast.Load()), index, node.ctx), bool(axes)

    def _along(self, array: str, axes: int, axis: int | None, shift: int) -> None:
        low, high = self.arrays.get((array, axes, axis), (shift, shift))
        self.arrays[array, axes, axis] = min(low, shift), max(high, shift)

    def _shift(self, index: ast.expr) -> int | None:
        """How far an index is behind the place of the loop; None if it has nothing to do with it."""
        match index:
            case ast.Name(id=name) if name == self.head.index:
                return 0
            case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=ast.Name(id=name), right=ast.Constant(value=value)) if (
                name == self.head.index and type(value) is int
            ):
                return value if isinstance(op, ast.Add) else -value
        return None

    def _slice(self, shift: int) -> ast.expr:
        first, last = _moved(self.head.first, shift), _moved(self.last, shift)
        is_start = isinstance(first, ast.Constant) and first.value == 0
        return ast.Slice(None if is_start else first, last)

    def _place(self, index: ast.expr) -> ast.expr:
        """An index that is the same in all turns."""
        if self.under_condition:
            raise Unfit("it asks for one element under a condition")
        match index:
            case ast.Constant(value=value) if type(value) is int:
                return index
            case ast.Name(id=name) if name not in self.bound:
                self.must_be(self.places, index, "int")
                return index
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return ast.UnaryOp(index.op, self._place(operand))
            case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=left, right=right):
                return ast.BinOp(self._place(left), op, self._place(right))
        raise Unfit(f"the index {self.read.script.source(index)} is no place beside that of the loop")

    def mask(self, test: ast.expr) -> ast.expr:
        """A condition as an array of truth values."""
        match test:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                (one, is_one), (other, is_other) = self.term(left), self.term(right)
                if is_one or is_other:
                    return ast.Compare(one, [op], [other])
            case ast.BoolOp(op=op, values=values):
                both = ast.BitAnd() if isinstance(op, ast.And) else ast.BitOr()
                found = self.mask(values[0])
                for value in values[1:]:
                    found = ast.BinOp(found, both, self.mask(value))
                return found
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Invert(), self.mask(operand))
        raise Unfit("its condition is more than a comparison of elements")


def fresh_in(script: Script, node: ast.stmt, wanted: str) -> str:
    """The name, with underscores behind it while the function of a node uses it."""
    function = script.scope_of(node)
    assert isinstance(function, ast.FunctionDef)
    while re.search(rf"\b{wanted}\b", script.source(function)):
        wanted += "_"
    return wanted


def is_row(script: Script, node: ast.Subscript) -> bool:
    """Whether an element is only the row in ``a[i][j]``."""
    above = script.parents[node]
    return isinstance(above, ast.Subscript) and above.value is node


def indices(node: ast.Subscript) -> tuple[ast.Name, list[ast.expr]]:
    """The array and the indices of ``a[i]``, ``a[i, j]`` and ``a[i][j]``."""
    index, inner = node.slice, node.value
    written = [*index.elts] if isinstance(index, ast.Tuple) else [index]
    if isinstance(inner, ast.Subscript):
        array, before = indices(inner)
        return array, [*before, *written]
    if not isinstance(inner, ast.Name):
        raise Unfit("it asks for elements of what has no name")
    return inner, written


def _moved(place: ast.expr, shift: int) -> ast.expr:
    match place:
        case ast.Constant(value=int() as value):
            return ast.Constant(value + shift)
        case ast.BinOp(op=ast.Add(), left=left, right=ast.Constant(value=int() as value)):
            return _moved(left, shift + value)
        case ast.BinOp(op=ast.Sub(), left=left, right=ast.Constant(value=int() as value)):
            return _moved(left, shift - value)
    if shift == 0:
        return place
    return ast.BinOp(place, ast.Add() if shift > 0 else ast.Sub(), ast.Constant(abs(shift)))


def is_surely_bound(read: Reading, loop: ast.stmt, node: ast.Name) -> bool:
    """Whether a name has a value where a loop of a function begins: a parameter that is never deleted, what is bound
    before in the blocks around the loop, or the target of a loop around."""
    script = read.script
    variable = script.variable(node)
    if variable is None:
        return False
    bound = script.bindings.get(variable, [])
    if any(isinstance(one, ast.ExceptHandler) or isinstance(getattr(one, "ctx", None), ast.Del) for one in bound):
        return False
    if isinstance(variable[0], ast.Module):
        above = [
            one
            for one in map(script.parents.get, bound)
            if isinstance(one, ast.Assign | ast.AnnAssign)
            and one.value is not None
            and (one.lineno < loop.lineno or _is_first(script, one))
        ]
        return any(one in script.tree.body for one in above)
    if variable[0] is not script.scope_of(loop):
        return False
    return any(isinstance(one, ast.arg) for one in bound) or any(one in bound for one in _bound_before(script, loop))


def _is_first(script: Script, made: ast.stmt) -> bool:
    """Whether a statement of the module comes before everything that may call a function of it."""
    for one in itertools.takewhile(lambda one: one is not made, script.tree.body):
        is_plain = isinstance(one, ast.Assign | ast.Expr) and isinstance(one.value, ast.Constant)
        is_function = isinstance(one, ast.FunctionDef) and not one.decorator_list and not _calls(one)
        if not (is_plain or is_function or isinstance(one, ast.Import | ast.ImportFrom)):
            return False
    return True


def _calls(function: ast.FunctionDef) -> bool:
    """Whether the head of a function calls something, for a default or an annotation."""
    head = [function.args, *([function.returns] if function.returns else [])]
    return any(isinstance(node, ast.Call) for part in head for node in ast.walk(part))


def _bound_before(script: Script, loop: ast.stmt) -> list[ast.AST]:
    """The targets of the assignments that are made whenever a loop begins, and of the loops around it."""
    found: list[ast.AST] = []
    child: ast.AST = loop
    for up in script.ancestors(loop):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(up, name, None)
            if isinstance(block, list) and child in block:
                made = [one for one in block[: block.index(child)] if isinstance(one, ast.Assign)]
                found += [node for one in made for target in one.targets for node in ast.walk(target)]
        if isinstance(up, ast.For) and child in up.body:
            found += ast.walk(up.target)
        if isinstance(up, ast.FunctionDef):
            break
        child = up
    return found
