"""A rule about loops over numpy arrays: all turns at once, where the arguments are arrays of real numbers.

The text does not prove what callers pass, so the new code asks when it runs, and keeps the old loop for everything
else.  Results are the same bits and types: terms are worked out by the same operations, and sums are made in the same
order (``add.accumulate``), which numpy's ``sum`` does not do.  Whole numbers stay in the loop: those of numpy overflow.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import Patch
from maxcode.policy.rules.python.arrays import asked_of, fit_in, is_free, is_kept, loops_of, names_in, numpy_of
from maxcode.policy.rules.python.edits import Reading
from maxcode.policy.rules.python.loops import indented
from maxcode.policy.rules.python.reading import reading
from maxcode.policy.rules.python.turns import Turns, Unfit, indices, is_row

WARNINGS = ("seterr", "errstate", "filterwarnings", "simplefilter", "catch_warnings", "showwarning")
_WIDE = 110  # characters of a line


def vectorise(unit: Unit) -> Iterable[Edit]:
    """Work out all turns of a loop over numpy arrays at once, where its arguments are arrays of real numbers.

    The program must import numpy.  The new code asks for the types, and keeps the loop for all others.
    """
    read = reading(unit)
    numpy = numpy_of(read.script) if read else ""
    for function, number, loop in innermost(read) if read else ():
        assert read is not None
        try:
            written = Written(Turns(read, loop, numpy or "np"))
        except Unfit as why:
            if numpy:
                read.miss("vectorise", loop, str(why))
            continue
        if numpy:
            yield _edit(read, loop, f"loop {number} in {function.name}", written)
        elif written.works:
            read.miss("vectorise", loop, "the program does not import numpy, so its numbers come in no arrays")


def innermost(read: Reading) -> Iterable[tuple[ast.FunctionDef, int, ast.For]]:
    """The loops of functions that hold no other loop: function, number in it from 1, loop.  Those that an earlier edit
    keeps beside its new code are left out."""
    for function in (node for node in ast.walk(read.script.tree) if isinstance(node, ast.FunctionDef)):
        loops = loops_of(read.script, function)
        for number, loop in enumerate(loops, 1):
            inside = (node for part in loop.body for node in ast.walk(part))
            if not any(isinstance(node, ast.For | ast.While) for node in inside) and not is_kept(read.script, loop):
                yield function, number, loop


@final
@dataclass(slots=True)
class Written:
    """A loop for all turns at once: lines without indentation, and what must be asked beside what ``turns`` notes.

    ``works``: whether it is worth a word where there is no numpy: it sums or calculates."""

    turns: Turns
    lines: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    works: bool = False

    def __post_init__(self) -> None:
        loop, read = self.turns.loop, self.turns.read
        script = read.script
        if loop.orelse or script.may_catch(loop) or "\t" in (script.indent(loop) or "\t"):
            raise Unfit("an error in the loop may be caught, or its lines hold more")
        if any(word in script.text for word in WARNINGS):
            raise Unfit("the program says what becomes of numpy's warnings")
        if unfree := [name.id for name in names_in(loop.target) if not is_free(read, loop, name)]:
            raise Unfit(f"{unfree[0]} is used after the loop")
        last = [self._statement(one) for one in loop.body]
        if not any(last) or (len([one for one in last if one]) > 1 and "alone" in last):
            raise Unfit("it does more than sum, count, or store and append terms")
        if any(re.search(rf"\b{ast.unparse(self.turns.last)}\b", line) for line in self.lines):
            self._named_end()
        self.works = self.works or any(isinstance(node, ast.BinOp) for one in loop.body for node in ast.walk(one))

    def _named_end(self) -> None:
        """A line for the end of the loop, if it has a name in the new code alone."""
        if self.turns.last is not self.turns.head.last:
            self.lines.insert(0, f"{ast.unparse(self.turns.last)} = {ast.unparse(self.turns.head.last)}")

    def _statement(self, node: ast.stmt) -> str:
        """Writes a statement of each turn; "alone" if no other may stand beside it, empty for a name in the turn."""
        match node:
            case ast.Assign(targets=[ast.Name() as target], value=value):
                self._temporary(target, value)
                return ""
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                self._stored(target, value)
                return "alone"
            case ast.If(test=test, body=body, orelse=orelse):
                return self._chosen(test, body, orelse)
        return self._gathered(node, "")

    def _temporary(self, target: ast.Name, value: ast.expr) -> None:
        script, name = self.turns.read.script, target.id
        variable = script.variable(target)
        uses = script.uses.get(variable, []) if variable is not None else []
        inside = names_in(self.turns.loop)
        if name in self.turns.temporary or name in self.turns.head.items or name == self.turns.head.index:
            raise Unfit(f"{name} is bound twice in a turn")
        if not uses or not all(use in inside for use in uses):
            raise Unfit(f"{name} is used outside of the loop, too")
        term, is_array = self.turns.term(value)
        self.turns.temporary[name] = is_array
        self.lines.append(f"{name} = {ast.unparse(term)}")

    def _stored(self, target: ast.Subscript, value: ast.expr) -> None:
        term, _ = self.turns.term(value)
        place, is_array = self.turns.element(target)
        assert isinstance(place, ast.Subscript) and isinstance(place.value, ast.Name)
        array, script = place.value.id, self.turns.read.script
        if not is_array:
            raise Unfit(f"{array} gets one element, again and again")
        read_too = [
            one
            for part in self.turns.loop.body
            for one in ast.walk(part)
            if isinstance(one, ast.Subscript) and not is_row(script, one) and indices(one)[0].id == array
        ]
        is_own = array not in self.turns.head.items.values() or isinstance(target.slice, ast.Name)
        if not is_own or any(script.source(one) != script.source(target) for one in read_too):
            raise Unfit(f"{array} is read at other places than it is stored to")
        apart = dict.fromkeys(name for name, _, _ in self.turns.arrays if name != array)
        shared = f"{self.turns.numpy}.may_share_memory"
        self.asked += [f"{array}.flags.c_contiguous", *(f"not {shared}({array}, {one})" for one in apart)]
        self.lines.append(f"{ast.unparse(place)} = {ast.unparse(term)}")

    def _chosen(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> str:
        """Statements of the turns that a condition chooses."""
        turns = self.turns
        turns.under_condition = True
        name = turns.fresh("chosen")
        self.lines.append(f"{name} = {ast.unparse(turns.mask(test))}")
        kinds = [self._gathered(one, name) for one in body] + [self._gathered(one, f"~{name}") for one in orelse]
        turns.under_condition = False
        if len(kinds) > 1 and "alone" in kinds:
            raise Unfit("it appends, and does more")
        return kinds[0]

    def _gathered(self, node: ast.stmt, mask: str) -> str:
        """What becomes a sum, a count or a list."""
        match node:
            case ast.AugAssign(target=ast.Name() as target, op=ast.Add(), value=ast.Constant(value=int() as step)):
                self._counted(target, step, mask)
                return "count"
            case ast.AugAssign(target=ast.Name() as target, op=ast.Add(), value=value):
                self._summed(target, self._many(value), mask)
                return "sum"
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name() as given, attr="append"), args=[element], keywords=[]
                )
            ):
                self._once(given)
                self.turns.must_be_bound(given)
                self.asked.append(f"type({given.id}) is list")
                term = self._many(element)
                self.lines.append(f"{given.id}.extend({ast.unparse(_where(term, mask))})")
                return "alone"
        raise Unfit("it does more than sum, count, or store and append terms")

    def _many(self, node: ast.expr) -> ast.expr:
        term, is_array = self.turns.term(node)
        if not is_array:
            raise Unfit(f"{self.turns.read.script.source(node)} is the same in all turns")
        return term

    def _once(self, target: ast.Name) -> None:
        """Unfit if a sum, count or list is named again in the loop, or is no variable of the function."""
        read, loop = self.turns.read, self.turns.loop
        variable = read.script.variable(target)
        if variable is None or variable[0] is not read.script.scope_of(loop):
            raise Unfit(f"{target.id} is no variable of the function")
        if [name.id for name in names_in(loop)].count(target.id) != 1:
            raise Unfit(f"{target.id} is used in the loop while it grows")

    def _counted(self, target: ast.Name, step: int, mask: str) -> None:
        self._once(target)
        if not mask or isinstance(step, bool):
            raise Unfit(f"{target.id} counts all turns")
        if not isinstance(self._start(target), int):
            self.turns.must_be(self.turns.places, target, "int")
        counted = f"int({self.turns.numpy}.count_nonzero({mask}))"
        self.lines.append(f"{target.id} += {counted if step == 1 else f'{step} * {counted}'}")

    def _summed(self, target: ast.Name, term: ast.expr, mask: str) -> None:
        self._once(target)
        self.works = True
        if self._start(target) is None:
            self.turns.must_be(self.turns.reals, target, "float")
        name, numpy = target.id, self.turns.numpy
        terms, indent = ast.unparse(term), ""
        if mask:
            terms, indent = self.turns.fresh("terms"), "    "
            self.lines += [f"{terms} = {ast.unparse(_where(term, mask))}", f"if len({terms}):"]
        self.lines.append(f"{indent}{name} = {numpy}.add.accumulate({numpy}.concatenate(([{name}], {terms})))[-1]")

    def _start(self, target: ast.Name) -> int | float | None:
        """The number that a name gets in the lines before the loop; None if there is none."""
        above = self.turns.read.script.parents[self.turns.loop]
        blocks = [getattr(above, name, None) for name in ("body", "orelse", "finalbody")]
        block = next(one for one in blocks if isinstance(one, list) and self.turns.loop in one)
        for made in reversed(block[: block.index(self.turns.loop)]):
            if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.Constant):
                return None
            if any(isinstance(one, ast.Name) and one.id == target.id for one in made.targets):
                value = made.value.value
                if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 31:
                    return value
                return None
        return None


def _where(term: ast.expr, mask: str) -> ast.expr:
    return ast.Subscript(term, ast.parse(mask, mode="eval").body, ast.Load()) if mask else term


def _edit(read: Reading, loop: ast.For, site: str, written: Written) -> Edit:
    script = read.script
    fit, patches = fit_in(script, written.turns.numpy)
    indent = script.indent(loop) or ""
    lines = [_asked(written, fit), *(f"    {line}" for line in written.lines), "else:"]
    start = script.offset(loop.lineno, 0)
    block = "".join(f"{indent}{line}\n" for one in lines for line in one.split("\n"))
    what = "works out a loop over arrays at once where they hold real numbers"
    patches += [Patch(start, start, block), *indented(read, [loop])]
    return read.edit("vectorise", site, what, patches, loop)


def _asked(written: Written, fit: str) -> str:
    """The line that asks for the types."""
    turns, head = written.turns, written.turns.head
    ends = (ast.unparse(head.first), ast.unparse(head.last))
    arrays = [(*key, *shifts) for key, shifts in turns.arrays.items()]
    asked = asked_of(fit, ends, (turns.reals, turns.places), arrays)
    first = head.sized or (arrays[0][0],)  # before its size is asked for, and a mark for later edits
    tests = [*(f"type({name}) is {turns.numpy}.ndarray" for name in first), asked, *written.asked]
    line = f"if {' and '.join(tests)}:"
    joined = "\n    and ".join(tests)
    return line if len(line) <= _WIDE else f"if (\n    {joined}\n):"
