"""The loop nests of a program in the words of schedules: what a small policy needs to know of it.

    gemm                       a function
    .i                         its loops, by their names in schedules; a dot for each level
    ..j
    ...p
    ....C[i j] += A[i p] B[p j]

Elements are named by the loops that move through them, calls are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from maxcode.code.cpp.unit import Unit
from maxcode.code.polyhedral.dependences import Access
from maxcode.code.polyhedral.polynomials import names_in
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import kernels
from maxcode.policy.rules.kernels.nest import Assign, Body, Branch, Declare, Item, Loop, Path, children, lexed


def outline(unit: Unit) -> list[str]:
    """The functions that hold loops: names, loops and statements, one a line."""
    found = []
    for kernel in kernels(unit):
        names = {spot.path: spot.name.partition(" in ")[0] for spot in kernel.spots}
        found += [kernel.function.name, *_lines(kernel.body, names)]
    return found


def _lines(body: Body, names: dict[Path, str], above: tuple[Loop, ...] = (), path: Path = ()) -> Iterator[str]:
    for position, item in enumerate(body):
        here = (*path, position)
        around = (*above, item) if isinstance(item, Loop) else above
        yield "." * (len(above) + 1) + (names[here] if isinstance(item, Loop) else _statement(item, above))
        for side, inside in enumerate(children(item)):
            yield from _lines(inside, names, around, (*here, side))


def _statement(item: Item, above: tuple[Loop, ...]) -> str:
    accesses = effect((item,), above).accesses
    reads = [_element(one) for one in accesses if not one.op]
    match item:
        case Assign():
            target = next((_element(one) for one in accesses if one.op), item.target)
            return " ".join([target, item.op, *reads])
        case Declare():
            return " ".join([item.name, "=", *(reads or _names(item.value))])
        case Branch():
            return "if"
        case _:
            return "other"


def _element(access: Access) -> str:
    """An element by the loops that move through it, the fastest last; a scalar by its name."""
    if not access.index:
        return access.array
    parts = access.index if access.digits is None else access.digits[::-1]
    loops = [level.var for level in access.levels]
    moving = (sorted(names_in(part or {}) & {*loops}, key=loops.index) for part in parts)
    return f"{access.array}[{' '.join(var.partition('.')[0] for part in moving for var in part)}]"


def _names(text: str) -> list[str]:
    """The names in an expression, each once."""
    return list(dict.fromkeys(token.text for token in lexed(text) if token.is_word))
