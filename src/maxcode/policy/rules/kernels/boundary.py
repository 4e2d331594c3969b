"""Steps that take tests out of loops: split off the ends of a range, and move invariant tests outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.code.source import text_of
from maxcode.policy.rules.kernels.effects import effect, elements
from maxcode.policy.rules.kernels.kernel import Kernel, Spot, kernels
from maxcode.policy.rules.kernels.legality import computes_anywhere
from maxcode.policy.rules.kernels.macro_uses import words_behind
from maxcode.policy.rules.kernels.memory import lent
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    every,
    put,
    words_in,
)


def split(unit: Unit) -> Iterator[Edit]:
    """Runs the first and the last iteration of a loop separately, so that the other iterations need no test for
    them."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            loop = spot.loop
            found = _tested(loop)
            plain = (loop.low, loop.step) == ("0", "1") and loop.high.isidentifier() and not loop.pragmas
            if plain and kernel.counts_signed(loop) and found is not None and not effect((loop,), spot.above).opaque:
                body = put(kernel.body, spot.path, _split(loop, *found))
                what = f"splits the first and the last iteration off the loop over {loop.var}"
                yield kernel.edit("split", spot.name, (), what, kernel.change(body))


def _tested(loop: Loop) -> tuple[int, list[str]] | None:
    """The test for the ends of a loop, ``x == 0 || ... || x == n - 1``: the branch, and the other conditions of the
    test."""
    for place, item in enumerate(loop.body):
        if isinstance(item, Branch):
            parts = [part.strip() for part in item.test.split("||")]
            ends = {f"{loop.var} == 0", f"{loop.var} == {loop.high} - 1"}
            if ends <= set(parts) and not any(re.search(r"&&|[(?,]|\band\b|\bor\b", part) for part in parts):
                return place, [part for part in parts if part not in ends]
    return None


def _split(loop: Loop, place: int, rest: list[str]) -> list[Item]:
    branch = loop.body[place]
    assert isinstance(branch, Branch), "found as one"
    before, after = loop.body[:place], loop.body[place + 1 :]
    at_end: Body = (*before, *branch.then, *after)
    inside: Body = (*before, Branch(" || ".join(rest), branch.then, branch.other), *after) if rest else ()
    high = loop.high
    return [
        replace(loop, high=f"(1 < {high} ? 1 : {high})", body=at_end),
        replace(loop, low="1", high=f"{high} - 1", body=inside or (*before, *branch.other, *after)),
        replace(loop, low=f"(1 > {high} - 1 ? 1 : {high} - 1)", body=at_end),
    ]


def unswitch(unit: Unit) -> Iterator[Edit]:
    """Moves a test that is the same for all iterations out of a loop; there are two copies of the loop then."""
    for kernel in kernels(unit):
        for spot in kernel.spots:
            made = _unswitched(kernel, spot)
            if made is not None:
                what = f"tests '{made.test}' outside the loop over {spot.loop.var}"
                yield kernel.edit("unswitch", spot.name, (), what, kernel.change(_with(kernel, spot, made)))


def _with(kernel: Kernel, spot: Spot, made: Branch) -> Body:
    return put(kernel.body, spot.path, [made])


def _unswitched(kernel: Kernel, spot: Spot) -> Branch | None:
    loop = spot.loop
    if loop.pragmas or not loop.body or not isinstance(branch := loop.body[-1], Branch):
        return None
    before = loop.body[:-1]
    names = {item.name for item in before if isinstance(item, Declare)} | {loop.var}
    fixed = all(isinstance(item, Declare) for item in before) and not words_in(branch.test) & names
    if (
        not fixed
        or re.search(r"[\[(]", branch.test)
        or not computes_anywhere(branch.test)
        or words_in(branch.test) & _changed(kernel, (loop,))
        or any(elements(text) is None for text in (branch.test, *_values(before)))
        or (not words_in(branch.test) <= _own(kernel) and effect((loop,), spot.above).opaque)
    ):
        return None
    then, other = (replace(loop, body=(*before, *side)) for side in (branch.then, branch.other))
    return Branch(branch.test, (then,), (other,) if branch.other else ())


def _values(body: Body) -> list[str]:
    return [item.value for item in body if isinstance(item, Declare)]


def _own(kernel: Kernel) -> set[str]:
    """The numbers that nothing else can change: values given to the function, and its variables."""
    found = {one.name for one in kernel.function.parameters if one.kind == "value"}
    found |= {item.name for item in every(kernel.body) if isinstance(item, Declare)}
    text = text_of(kernel.function.node)
    return {name for name in found - lent(kernel) if re.search(rf"&\s*{name}\b", text) is None}


def _changed(kernel: Kernel, body: Body) -> set[str]:
    """The scalars that items assign, or may change in an expression, at any depth."""
    found: set[str] = set()
    for item in every(body):
        match item:
            case Assign(target=target, value=value):
                found.add(target)
                texts = [target, value]
            case Declare(value=value):
                texts = [value]
            case Branch(test=test):
                texts = [test]
            case Loop(low=low, high=high):
                texts = [low, high]
            case Other(text=text):
                found |= words_behind(kernel.unit, text)
                continue
        found |= words_behind(kernel.unit, " ".join(text for text in texts if elements(text) is None))
    return found
