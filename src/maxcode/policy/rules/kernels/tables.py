"""Steps that compute a repeated value of a nest once: tables of sums, and of the factors of a product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.words import PURE
from maxcode.code.polyhedral.polynomials import coefficient, polynomial
from maxcode.policy.rules.kernels.effects import effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.memory import Array, has_an_element_each, may_free, with_arrays
from maxcode.policy.rules.kernels.names import hides_access
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    band_of,
    changed,
    every,
    is_shared,
    lexed,
    printed,
    substituted,
    words_in,
    words_of_head,
)
from maxcode.policy.rules.kernels.orders import nested
from maxcode.policy.rules.kernels.reading import read


@final
@dataclass(slots=True)
class _Tables:
    """The tables made so far, by their content, and the statements that fill them."""

    kernel: Kernel
    arrays: dict[str, Array] = field(default_factory=dict)
    fills: list[Item] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [one.name for one in self.arrays.values()]

    def name(self, key: str, wish: str, sizes: tuple[str, ...], fill: Item) -> str:
        """The table with the content ``key``; if it is new, ``fill`` fills it, where ``@`` stands for its name."""
        if key not in self.arrays:
            made = self.kernel.fresh(wish, self.names)
            self.arrays[key] = Array(made, "double", sizes)
            self.fills += changed((fill,), lambda text: text.replace("@", made))
        return self.arrays[key].name


# ----------------------------------------------------------------------------------------------------- tables of sums


def tabulate(unit: Unit) -> Iterator[Edit]:
    """Computes values that depend on only one loop of a nest once for each of its iterations, into a table."""
    pure = PURE | {name for name in (one.name for one in unit.functions) if _is_pure(unit, name)}
    for kernel, spot in _nests(unit):
        tables = _Tables(kernel)
        chain, core = band_of(spot.loop)
        seen = effect((spot.loop,), pure=pure)
        if seen.opaque or seen.scalars or len(chain) < 2:
            continue
        long = [loop for depth, loop in enumerate(chain) if has_an_element_each(seen, depth)]
        core = _tabulated(tables, (chain, long), _separated(core), seen.written)
        if tables.names:
            what = f"computes {', '.join(tables.names)} before the loops"
            yield _edit("tabulate", spot, tables, nested(chain, core), what)


def _nests(unit: Unit) -> Iterator[tuple[Kernel, Spot]]:
    """The outermost nests that nothing leaves before their end, and of which no thread runs a part."""
    for kernel in kernels(unit):
        whole = (spot for spot in kernel.spots if len(spot.path) == 1 and not _is_run_in_parts(spot.loop))
        yield from ((kernel, spot) for spot in whole if may_free(kernel, spot))


def _is_run_in_parts(nest: Loop) -> bool:
    """Whether threads that run already share a loop: each would read all elements, while others write them."""
    shared = (one for one in every((nest,)) if isinstance(one, Loop) and is_shared(one))
    return any("parallel" not in " ".join(one.pragmas) for one in shared)


def _separated(core: Body) -> Body:
    """The items with a loop that makes several sums split into one loop for each."""
    found: list[Item] = []
    for item in core:
        parts = item.body if isinstance(item, Loop) else ()
        sums = [part for part in parts if isinstance(part, Assign) and part.target.isidentifier()]
        targets = {part.target for part in sums}
        read_too = set().union(*(words_in(part.value) for part in sums)) & targets
        if isinstance(item, Loop) and len(sums) == len(parts) == len(targets) > 1 and not read_too:
            found += [replace(item, body=(part,)) for part in sums]
        else:
            found.append(item)
    return tuple(found)


def _tabulated(tables: _Tables, loops: tuple[list[Loop], list[Loop]], core: Body, written: frozenset[str]) -> Body:
    """The core without the sums that depend on one loop alone; those go into tables.

    ``loops``: those of the nest, and those of them that a table may have an element for.
    """
    chain, long = loops
    for start in [item for item in core if isinstance(item, Declare) and item.type == "double"]:
        position = next(k for k, item in enumerate(core) if isinstance(item, Declare) and item.name == start.name)
        held = core[position]
        assert isinstance(held, Declare), "found by its type"
        part = _slice(held, core)
        loop = _only_on(part, chain, core, written) if part is not None else None
        test = _runs(chain, [loop]) if loop is not None else None
        if part is None or loop is None or test is None or loop not in long:
            continue
        text = printed(part) + test
        key = substituted(text, {loop.var: "0index", held.name: "0value"}) + loop.high  # no names of a program
        made = _under(test, (*part, Assign(f"@[{loop.var}]", "=", held.name)))
        fill = replace(loop, body=made, pragmas=())
        name = tables.name(key, f"{held.name}_of", (loop.high,), fill)
        rest = tuple(item for item in core if item not in part)
        here = {held.name: f"{name}[{loop.var}]"}
        core = changed(rest, lambda text, here=here: substituted(text, here))  # type: ignore[misc]
    return core


def _runs(nest: Sequence[Loop], over: Sequence[Loop]) -> str | None:
    """Whether a nest computes a value for an iteration of some of its loops, as a test: each of the others has an
    iteration.  Empty if there is no other, None if that depends on others.  A value that the nest does not compute may
    read elements that are not there."""
    rest = [loop for loop in nest if loop not in over]
    if any(words_of_head(loop) & {other.var for other in rest} for loop in rest):
        return None
    return " && ".join(dict.fromkeys(f"{loop.low} < {loop.high}" for loop in rest))


def _under(test: str, items: Body) -> Body:
    return (Branch(test, items),) if test else items


def _slice(start: Declare, core: Body) -> tuple[Item, ...] | None:
    """A declaration and the one loop that adds to it, if any; None if the value is cheap, or changed elsewhere."""
    adding = [item for item in core if start.name in _targets((item,))]
    if len(adding) > 1 or not all(isinstance(item, Loop) and _targets((item,)) == {start.name} for item in adding):
        return None
    return (start, *adding) if adding or "(" in start.value else None


def _targets(body: Body) -> set[str]:
    return {item.target for item in every(body) if isinstance(item, Assign)}


def _only_on(part: Sequence[Item], chain: list[Loop], core: Body, written: frozenset[str]) -> Loop | None:
    """The only loop of the nest that a slice depends on, if it runs from zero to a plain bound."""
    used = words_in(printed(tuple(part)))
    declared = {item.name for item in core if isinstance(item, Declare)}
    own = {item.name for item in part if isinstance(item, Declare)}
    loops = [loop for loop in chain if loop.var in used]
    if len(loops) != 1 or used & written or used & (declared - own) or loops[0].high in {one.var for one in chain}:
        return None
    loop = loops[0]
    return loop if (loop.low, loop.step) == ("0", "1") and loop.high.isidentifier() else None


def _is_pure(unit: Unit, name: str) -> bool:
    """Whether a function of the program computes a number without side effects."""
    known = unit.by_name.get(name, [])
    if len(known) != 1 or known[0].returns != "double":
        return False
    body = read(known[0].body)
    *rest, last = body or (Other(""),)
    if not isinstance(last, Other) or not last.text.startswith("return "):
        return False
    whole = (*rest, Declare("double", name, last.text.removeprefix("return ").removesuffix(";")))
    seen = effect(whole)
    own = {one.name for one in known[0].parameters} >= {access.array for access in seen.accesses}
    plain = own and not seen.opaque and not seen.scalars and not seen.written
    return plain and not known[0].body.has_error and not hides_access(unit, known[0], whole)


# --------------------------------------------------------------------------------------------------- tables of factors


def operands(unit: Unit) -> Iterator[Edit]:
    """Computes each factor inside a sum of products once, into tables with contiguous rows."""
    for kernel, spot in _nests(unit):
        tables = _Tables(kernel)
        chain, core = band_of(spot.loop)
        seen = effect((spot.loop,))
        if seen.opaque or seen.scalars or len(chain) < 2:
            continue
        barred = seen.written | {item.name for item in core if isinstance(item, Declare)}
        made = tuple(_with_operands(tables, chain, item, barred) for item in core)
        if tables.names:
            what = f"computes {', '.join(tables.names)} before the loops, so that a product is left"
            yield _edit("operands", spot, tables, nested(chain, made), what)


def _with_operands(tables: _Tables, chain: list[Loop], item: Item, barred: frozenset[str]) -> Item:
    match item:
        case Loop(low="0", step="1", body=(Assign(op="+=" | "-=") as add,)) as loop:
            factors = _factors(add.value)
            parts = [_table(tables, [*chain, loop], factor, barred) for factor in factors or []]
            if len(parts) == 2:
                return replace(loop, body=(replace(add, value=" * ".join(parts)),))
    return item


def _factors(text: str) -> list[str] | None:
    """The two factors of ``(x) * (y)``."""
    depth = 0
    cuts = []
    for token in lexed(text):
        depth += (token.text in "([") - (token.text in ")]")
        if depth == 0 and not re.match(r"[\w.()\[\]]|\*$", token.text):
            return None
        if depth == 0 and token.text == "*":
            cuts.append(token.start)
    if len(cuts) != 1:
        return None
    return [text[: cuts[0]].strip(), text[cuts[0] + 1 :].strip()]


def _table(tables: _Tables, loops: list[Loop], factor: str, barred: frozenset[str]) -> str:
    """The element that holds a factor; of a new table, unless the factor is an element already."""
    used = words_in(factor)
    over = [loop for loop in loops if loop.var in used]
    plain = all((loop.low, loop.step) == ("0", "1") and loop.high.isidentifier() for loop in over)
    used = used | {loop.high for loop in over}
    test = _runs(loops, over)
    doubles = any(tables.kernel.is_double(array) for array, _ in elements(factor) or [])  # others wrap, or round less
    if len(over) != 2 or used & barred or not plain or not doubles or test is None:
        return factor
    if re.fullmatch(r"\w+\[[^\[\]]*\]", factor):
        return factor
    column, row = over
    if not (_has_rows_of(factor, row, column) or _has_rows_of(factor, column, row)):
        return factor
    key = substituted(factor + test, {column.var: "0column", row.var: "0row"}) + row.high + column.high
    index = f"{row.var} * {column.high} + {column.var}"
    inner = replace(column, body=_under(test, (Assign(f"@[{index}]", "=", factor),)), pragmas=())
    name = tables.name(key, "operand", (row.high, column.high), replace(row, body=(inner,), pragmas=()))
    return f"{name}[{index}]"


def _has_rows_of(factor: str, row: Loop, column: Loop) -> bool:
    """Whether a factor reads a matrix with such rows, so that a table of it is no larger, and its indices neither."""
    found = (polynomial(index) for _, index in elements(factor) or [])
    return any(one is not None and coefficient(one, row.var) == polynomial(column.high) for one in found)


def _edit(rule: str, spot: Spot, tables: _Tables, nest: Body, what: str) -> Edit:
    change = with_arrays(tables.kernel, spot, [*tables.fills, *nest], [*tables.arrays.values()])
    return tables.kernel.edit(rule, spot.name, (), what, change)
