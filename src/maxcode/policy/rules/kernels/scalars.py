"""Steps that give a value in a loop its own storage, which removes dependences: privatise, expand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.kernels.effects import effect
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels, with_cast
from maxcode.policy.rules.kernels.legality import cuts
from maxcode.policy.rules.kernels.macro_uses import named_in_macros
from maxcode.policy.rules.kernels.memory import Array, has_an_element_each, is_fixed, may_free, with_arrays
from maxcode.policy.rules.kernels.names import reals
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    changed,
    every,
    hides,
    printed,
    substituted,
    words_in,
)
from maxcode.policy.rules.kernels.rows import rows_of_arrays

_TYPES = ("double", "float", "int", "long")
_DECLARATION = re.compile(rf"({'|'.join(_TYPES)}) (\w+(?: ?, ?\w+)*);")


# ------------------------------------------------------------------------------------------------------ privatisation


def privatise(unit: Unit) -> Iterator[Edit]:
    """Declares a scalar inside the loop that always sets it first, so that iterations do not share it."""
    for kernel in kernels(unit):
        for name, kind in _scalars(kernel).items():
            body = _privately(kernel, name, kind)
            if body is not None and body != kernel.body:
                what = f"declares {name} inside the loops that set it"
                yield kernel.edit("privatise", f"{name} in {kernel.function.name}", (), what, kernel.change(body))


def _scalars(kernel: Kernel) -> dict[str, str]:
    """The scalars that a function declares before its loops, with their types."""
    found: dict[str, str] = {}
    for item in kernel.body:
        if isinstance(item, Declare) and item.type in _TYPES:
            found[item.name] = item.type
        made = _DECLARATION.fullmatch(item.text) if isinstance(item, Other) else None
        if made is not None:
            found |= dict.fromkeys(re.findall(r"\w+", made[2]), made[1])
    hidden = named_in_macros(kernel.unit, printed(kernel.body)) if found else set[str]()
    return {name: kind for name, kind in found.items() if name not in hidden}


def _privately(kernel: Kernel, name: str, kind: str) -> Body | None:
    """The kernel's body with a scalar declared where it is set, as a block may; None if it must stay."""
    given = reals(kernel.unit, kernel.function) if kind in ("int", "long") else frozenset[str]()
    return _private(kernel.body, lambda value: with_cast(Declare(kind, name, value), given))


def _private(body: Body, made: Callable[[str], Declare], depth: int = 0) -> Body | None:
    """The items with a declaration wherever a block sets the scalar before it uses it; None if some use may see a value
    from before the block."""
    items, name = list(body), made("0").name
    for place, item in enumerate(body):
        if name not in words_in(printed((item,))) or (depth == 0 and _declares(item, name)):
            continue
        if isinstance(item, Assign) and item.target == name:
            if depth == 0 or item.op != "=" or name in words_in(item.value) or "&" in printed(body[place:]):
                return None
            items[place] = made(item.value)
            return tuple(items)
        inside = _inside(item, made, depth)
        if inside is None:
            return None
        items[place] = inside
    return tuple(items)


def _declares(item: Item, name: str) -> bool:
    if isinstance(item, Declare):
        return item.name == name and name not in words_in(item.value)
    return isinstance(item, Other) and _DECLARATION.fullmatch(item.text) is not None


def _inside(item: Item, made: Callable[[str], Declare], depth: int) -> Item | None:
    name = made("0").name
    if isinstance(item, Loop) and name not in words_in(f"{item.low} {item.high} {item.step}"):
        body = _private(item.body, made, depth + 1)
        return replace(item, body=body) if body is not None else None
    if isinstance(item, Branch) and depth and name not in words_in(item.test):
        then, other = (_private(side, made, depth + 1) for side in (item.then, item.other))
        return replace(item, then=then, other=other) if then is not None and other is not None else None
    return None


# ---------------------------------------------------------------------------------------------------------- expansion


def expand(unit: Unit) -> Iterator[Edit]:
    """Keeps the scalars of a loop in arrays, an element for each iteration, and splits the loop as far as that
    permits."""
    for kernel in kernels(unit):
        whole = privatised(kernel)
        for spot in whole.spots:
            made = expanded(whole, spot) if may_free(whole, spot) else None
            if made is not None:
                names = ", ".join(made.names)
                what = f"keeps {names} for every {spot.loop.var}, and splits the loop into {len(made.loops)}"
                change = with_arrays(whole, spot, made.loops, made.arrays)
                yield kernel.edit("expand", spot.name, (), what, change)
            if may_free(whole, spot):
                yield from rows_of_arrays(whole, spot)


def privatised(kernel: Kernel) -> Kernel:
    """The kernel with every scalar declared inside the loops that set it, where that is possible."""
    for name, kind in _scalars(kernel).items():
        kernel = replace(kernel, body=_privately(kernel, name, kind) or kernel.body)
    return kernel


@final
@dataclass(frozen=True, slots=True)
class Expanded:
    """The names that an expansion keeps, their arrays, and the loops after it."""

    names: tuple[str, ...]
    arrays: tuple[Array, ...]
    loops: tuple[Loop, ...]


def expanded(kernel: Kernel, spot: Spot) -> Expanded | None:
    """The loop with its scalars in arrays, split; None if they cannot be kept so, or if it stays whole."""
    loop = spot.loop
    made = [item for item in loop.body if isinstance(item, Declare)]
    plain = loop.step == "1" and not loop.pragmas and re.fullmatch(r"\d+", loop.low) and is_fixed(kernel, spot)
    plain = plain and not spot.shared  # one array for all threads
    named = {word for item in every(loop.body) if isinstance(item, Loop) for word in words_in(" ".join(item.pragmas))}
    if (
        not made
        or not plain
        or not has_an_element_each(effect((loop,), spot.above), len(spot.above))
        or hides((loop,))
        or any(item.type not in ("double", "float") or item.name in named for item in made)
    ):
        return None
    arrays = {item.name: kernel.fresh(f"{item.name}_of") for item in made}
    here = {name: f"{array}[{loop.var}]" for name, array in arrays.items()}
    items = changed(loop.body, lambda text: substituted(text, here))
    body = tuple(Assign(here[item.name], "=", item.value) if isinstance(item, Declare) else item for item in items)
    whole = replace(loop, body=body)
    places = (0, *cuts(whole, spot.above), len(body))
    if len(places) == 2:
        return None
    parts = tuple(replace(loop, body=body[start:end]) for start, end in pairwise(places))
    given = tuple(Array(arrays[item.name], item.type, (loop.high,)) for item in made)
    return Expanded(tuple(arrays), given, parts)
