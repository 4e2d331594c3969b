"""Finds tiling and unrolling in loop nests.

*Tiling*: an outer loop goes in blocks (a step of 2 or more, or a counter times a constant), and an inner loop runs over
one block.  Either both ends of the inner loop depend on the outer counter, or it counts from 0 to the (clamped) size of
the block and an index adds the two counters.  The inner loop may be in a function that the outer one calls.  A step
that consists only of sizes of the problem is a row, not a tile.

*Unrolling*: the body of a loop with a step of 2 or more repeats statements for neighbours.  Or an inner loop of at most
16 iterations counts the neighbours, with another loop in between, or with a local array (register blocks).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import final

from maxcode.code.techniques.keywords import Found
from maxcode.code.techniques.syntax import Call, Function, Loop, Span, Unit, words

REGISTERS = 16  # the most neighbours that a loop may keep in registers
CALLS_DEEP = 2
_CLAMP = r"\bf?min\w*\s*\(|\bMIN\b|\?"


def nested(unit: Unit) -> Iterator[Found]:
    """The tiled and unrolled loops of a text."""
    for loop in unit.loops:
        for block in _blocks(unit, loop):
            yield from block.tiles()
            yield from _repeated(block)
    yield from _recursive(unit)
    for line in unit.backward:
        yield Found(line, "hidden")


# ----------------------------------------------------------------------------------------------------------- blocks


@final
@dataclass(frozen=True)
class _Block:
    """One counter of a loop that goes in blocks, and the names that depend on it inside ``body``.

    ``size``: the step; 0 if it is not a number.  ``step``: its text.
    ``names``: names that depend on the counter; ``clamped``: sizes of a last, shorter block.
    ``products``: the loop has steps of 1 and its counter is multiplied by ``size``; then only the products count.
    """

    unit: Unit
    loop: Loop
    body: Span
    counter: str
    size: int
    step: str
    products: bool = False
    seeds: frozenset[str] = frozenset()
    clamps: frozenset[str] = frozenset()
    depth: int = 0

    @cached_property
    def inner(self) -> list[tuple[Loop, str]]:
        """The loops inside, each with its counters."""
        loops = [loop for loop in self.unit.loops if self.body.holds(loop.span.start)]
        return [(loop, name) for loop in loops for name in steps(self.unit, loop)]

    @cached_property
    def names(self) -> set[str]:
        """The names whose values depend on the counter, without the counters of inner loops."""
        found = set(self.seeds) if self.depth or self.products else {self.counter}
        counters = {name for _, name in self.inner}
        for _ in range(3):
            for write in self.unit.writes:
                if self.body.holds(write.at) and write.name not in counters and self._follows(write.value, found):
                    found.add(write.name)
        return found - ({self.counter} if self.products else set())

    @cached_property
    def clamped(self) -> set[str]:
        """The names for the size of a block, clamped to the remaining elements."""
        writes = [write for write in self.unit.writes if self.body.holds(write.at)]
        return set(self.clamps) | {write.name for write in writes if self.clamps_to(write.value)}

    def _follows(self, text: str, names: set[str]) -> bool:
        multiplied = self.products and self.depth == 0
        return bool(words(text) & names) or (multiplied and self.step in _factors(self.unit, text, self.counter))

    def follows(self, text: str) -> bool:
        """Whether an expression depends on the counter."""
        return self._follows(text, self.names)

    def clamps_to(self, text: str) -> bool:
        """Whether an expression is the number of elements that remain for the last block."""
        if not self.follows(text):
            return False
        less = "|".join(map(re.escape, self.names)) or r"\Z."
        return bool(re.search(_CLAMP, text) or re.search(rf"-\s*\(?\s*(?:{less})\b", text))

    def tiles(self) -> Iterator[Found]:
        """The inner loops that run over one block, in this body and in the functions that it calls."""
        for loop, counter in self.inner:
            yield from self._kind(loop, counter)
        if self.depth < CALLS_DEEP:
            for call in self.unit.calls:
                if self.body.holds(call.at) and (function := self.unit.by_name.get(call.name)) is not None:
                    yield from self._through(call, function)

    def _through(self, call: Call, function: Function) -> Iterator[Found]:
        pairs = list(zip(function.parameters, call.arguments, strict=False))
        follow = frozenset(name for name, argument in pairs if self.follows(argument))
        clamps = frozenset(n for n, a in pairs if self.clamps_to(a) or words(a) & self.clamped)
        if follow | clamps:
            yield from replace(
                self, body=function.body, seeds=follow | clamps, clamps=clamps, depth=self.depth + 1
            ).tiles()

    def _kind(self, loop: Loop, counter: str) -> Iterator[Found]:
        start, limit = self._start(loop, counter), far_side(loop, counter)
        if self.follows(start) and self.follows(limit):
            yield Found(self.loop.line, "tiling", self.size)
            return
        first = self.unit.value(start)
        if first is None or not self._mixes(loop, counter):
            return
        last = self.unit.value(limit)
        if last is None:
            if words(limit) & self.clamped or self.clamps_to(limit) or (not self.size and limit.strip() == self.step):
                yield Found(self.loop.line, "tiling", self.size)
            return
        turns = abs(last - first) + ("=" in loop.condition and "!" not in loop.condition)
        if turns < 2 or (self.size and turns > self.size):
            return
        if turns > REGISTERS:
            yield Found(self.loop.line, "tiling", turns)
        elif self._in_registers(loop):
            yield Found(loop.line, "unrolling", turns)

    def _start(self, loop: Loop, counter: str) -> str:
        """The value of the counter before the first iteration, as text."""
        around = self.unit.function_at(loop.span.start)
        since = self.body.start if self.depth == 0 or around is None else around.body.start
        before = [w for w in self.unit.writes if w.name == counter and w.op == "=" and since <= w.at < loop.body.start]
        return next((write.value for write in reversed(before) if not loop.update.holds(write.at)), "")

    def _mixes(self, loop: Loop, counter: str) -> bool:
        """Whether an access in the inner loop depends on both counters."""
        mine = {counter} | {
            write.name
            for write in self.unit.writes
            if loop.body.holds(write.at) and counter in words(write.value) and write.name not in self.names
        }
        accesses = [access.text for access in self.unit.accesses if loop.body.holds(access.at)]
        return any(words(text) & mine and self.follows(text) for text in accesses)

    def _in_registers(self, loop: Loop) -> bool:
        between = any(
            other is not loop and other.body.holds(loop.span.start) and not _is_short(self.unit, other)
            for other, _ in self.inner
        )
        local = {found[0] for array in self.unit.arrays if (found := re.findall(r"\w+", array.text))}
        used = {name for access in self.unit.accesses if loop.body.holds(access.at) for name in words(access.text)}
        return between or bool(local & used)


def far_side(loop: Loop, counter: str) -> str:
    """The bound in the condition of a loop: the side without the counter."""
    sides = re.split(r"<=|>=|!=|<|>|&&|\|\|", loop.condition.strip().removeprefix("(").removesuffix(")"))
    return " ".join(side for side in sides if counter not in words(side)).strip()


def _is_short(unit: Unit, loop: Loop) -> bool:
    ends = (unit.value(far_side(loop, counter)) for counter in steps(unit, loop))
    return any(end is not None and end <= REGISTERS for end in ends)


def _blocks(unit: Unit, loop: Loop) -> Iterator[_Block]:
    for counter, step in steps(unit, loop).items():
        value = unit.value(step)
        if value is None:
            if step and not unit.is_dimension(step):
                yield _Block(unit, loop, loop.body, counter, 0, step.strip())
        elif abs(value) > 1:
            yield _Block(unit, loop, loop.body, counter, abs(value), step.strip())
        else:
            yield from _products(unit, loop, counter)


def _products(unit: Unit, loop: Loop, counter: str) -> Iterator[_Block]:
    texts = [write.value for write in unit.writes if loop.body.holds(write.at)]
    texts += [access.text for access in unit.accesses if loop.body.holds(access.at)]
    texts += [far_side(other, "") for other in unit.loops if loop.body.holds(other.span.start)]
    for factor in {factor for text in texts for factor in _factors(unit, text, counter)}:
        size = unit.value(factor)
        if size is None and not unit.is_dimension(factor):
            yield _Block(unit, loop, loop.body, counter, 0, factor, products=True)
        elif size is not None and size > 1:
            yield _Block(unit, loop, loop.body, counter, size, factor, products=True)


@lru_cache(maxsize=1 << 14)
def _factors(unit: Unit, text: str, counter: str) -> frozenset[str]:
    """The factors of ``counter`` in an expression; a shift counts as its power of two.  Each block asks again."""
    return frozenset(_each_factor(unit, text, counter)) if counter in words(text) else frozenset()


def _each_factor(unit: Unit, text: str, counter: str) -> Iterator[str]:
    atom = r"\(?\s*([A-Za-z_]\w*|\d+)\b(?!\s*[(\[.])"
    around = rf"\b{re.escape(counter)}\b(?:[^\[\]*,]*\))?\s*"
    for found in re.finditer(rf"{around}(?P<op>\*|<<)\s*{atom}", text):
        if found["op"] == "*":
            yield found[2]
        elif (shift := unit.value(found[2])) is not None and shift < 16:
            yield str(1 << shift)
    for found in re.finditer(rf"(?<![\w.])([A-Za-z_]\w*|\d+)\s*\)?\s*\*\s*\(*\s*{re.escape(counter)}\b", text):
        yield found[1]


def steps(unit: Unit, loop: Loop) -> dict[str, str]:
    """Counter of a loop -> its step in an iteration, as text; a variable that grows by a factor is no counter."""
    found: dict[str, str] = {}
    compared = words(loop.condition)
    for place in (loop.update, loop.body):
        for write in unit.writes:
            if place.holds(write.at) and write.name in compared:
                step = _step(write.name, write.op, write.value)
                if step is not None:
                    found.setdefault(write.name, step)
        if found:
            break
    return found


def _step(name: str, op: str, value: str) -> str | None:
    if op in ("++", "+=", "-="):
        return value
    added = re.fullmatch(rf"\s*{re.escape(name)}\s*[-+](.+)|(.+)\+\s*{re.escape(name)}\s*", value, re.DOTALL)
    return (added[1] or added[2]) if op == "=" and added else None


# --------------------------------------------------------------------------------------------------- repeated bodies


def _repeated(block: _Block) -> Iterator[Found]:
    """Finds a body that repeats statements for neighbours."""
    if block.size < 2:
        return
    statements = [text for text in block.unit.statements if block.body.holds(text.at)]
    neighbours = any(_has_neighbour(block, statement.text) for statement in statements)
    shapes: dict[str, set[str]] = defaultdict(set)
    for statement in statements:
        shapes[_shape(statement.text)].add(statement.text)
    most = max((len(texts) for shape, texts in shapes.items() if _computes(shape)), default=0)
    copies = max((len(texts) for shape, texts in shapes.items() if "[" in shape), default=0)
    if neighbours and most < 2 and copies < 4:
        neighbours = any(_repeats_terms(statement.text, block.size) for statement in statements)
    if neighbours or most >= block.size > 2:
        yield Found(block.loop.line, "unrolling", block.size)


def _has_neighbour(block: _Block, text: str) -> bool:
    """Whether an access uses the counter plus a number from 1 to below the step."""
    if not block.follows(text):
        return False
    counter = re.escape(block.counter)
    if block.products:
        step = re.escape(block.step)
        counter = rf"{step}\s*\)?\s*\*\s*\(?\s*{counter}|{counter}\s*(?:\*\s*\(?\s*{step}|<<\s*\w+)"
    names = "|".join([*map(re.escape, block.names), counter])
    sums = re.finditer(rf"\b(?:{names})\b\s*\)?\s*\+\s*(\w+)|\b(\w++)\s*\+\s*\(?\s*(?:{names})\b", text)
    values = (block.unit.value(found[1] or found[2]) for found in sums)
    return any(value is not None and 0 < value < block.size for value in values)


def _canonical(text: str) -> str:
    """An expression without its constant offsets."""
    text = re.sub(r"\s*[-+]\s*\d+\s*\*\s*\w+|\s*[-+]\s*\d+\b(?!\.)|\b\d+\s*\+\s*", "", text)
    for _ in range(3):
        text = re.sub(r"(?<!\w)\(\s*(\w+)\s*\)", r"\1", re.sub(r"(?<=[\[(*+-]) *\(\s*(\w+)\s*\)", r" \1", text))
    return re.sub(r"\s+", "", text)


@lru_cache(maxsize=1 << 14)
def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z_]\w*", "v", re.sub(r"\b\d[\w.]*", "0", _canonical(text)))


@lru_cache(maxsize=1 << 14)
def _computes(shape: str) -> bool:
    bare = shape
    for _ in range(4):
        bare = re.sub(r"\[[^\[\]]*\]", "", bare)
    return bool(re.search(r"[-+*/]=|(?<=[\w\]])[-+*/](?=[\w(])|v\(", bare)) and "v" in bare


def _repeats_terms(text: str, step: int) -> bool:
    """Whether terms of one sum differ only in offsets, by less than the step."""
    seen: dict[str, list[int]] = defaultdict(list)
    for term in re.split(r"[-+*]?=|\+(?![^\[]*\])", text):
        if "[" in term and re.search(r"\*|\w\s*\(", re.sub(r"\[[^\]]*\]", "", term)):
            offsets = [int(sign + number) for sign, number in re.findall(r"([-+])\s*(\d{1,9})\b", term)]
            seen[_canonical(term).strip("();")].append(max(offsets, default=0))
    return any(0 < abs(one - other) < step for found in seen.values() for one in found for other in found)


def _recursive(unit: Unit) -> Iterator[Found]:
    """Finds blocking by recursion: a function with a loop calls itself on parts, down to a size that it chose."""
    for function in unit.functions:
        again = any(function.body.holds(call.at) and call.name == function.name for call in unit.calls)
        loops = any(function.body.holds(loop.span.start) for loop in unit.loops)
        if again and (loops or len(unit.functions) > 1):
            body = unit.text_in(function.body)
            limits = [unit.value(text) for text in re.findall(r"<=?\s*(\w+)", body)]
            if any(value is not None and value >= 4 for value in limits):
                yield Found(function.line, "tiling")
