"""What the statements of a loop nest read and write: its accesses, with their iteration domains.

Arrays with different names do not overlap, as the contract of a kernel says.  A scalar that is assigned, but not
declared, inside counts as an array of one element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import final

from maxcode.code.cpp.words import PURE
from maxcode.code.polyhedral.dependences import Access, Level, delinearised
from maxcode.code.polyhedral.polynomials import Poly, added, number, polynomial, renamed
from maxcode.code.source import Token
from maxcode.policy.rules.kernels.nest import (
    Assign,
    Body,
    Branch,
    Declare,
    Item,
    Loop,
    Other,
    children,
    every,
    extremes,
    lexed,
    substituted,
    words_in,
    words_of_head,
)

_INTEGERS = ("int", "long", "const int", "size_t", "ptrdiff_t")
TYPES = frozenset({"double", "float", "char", "short", "int", "long", "unsigned", "size_t", "ptrdiff_t"})
_ASSIGNS = re.compile(r"(?:[-+*/%&|^]|<<|>>)?=|(?:and|or|xor)_eq")
_OBSCURE = frozenset({"++", "--", "&", "->", "->*", ".", "{", "throw", "new", "delete", "co_await", "co_yield", "asm"})
_QUIET = re.compile(  # statements that change no number: pragmas, jumps, declarations, those that steps add
    r"#\s*pragma\b[^\n]*|(?:return|break|continue)\b[^;(]*;|(?:double|float|int|long) \w[\w ,]*(?:\[[\w *+-]*\])?;"
    r"|(?:\w+ = )?(?:product|scan)\([\w +\-*/,.()?:<>]*\);|free\(\w+\);|\w+ \*\w+ = \(\w+ \*\)malloc\([^;]*\);"
)
_CALLED = re.compile(r"(\w+)\s*\(")
_TEMPLATE = re.compile(r"(\w+) < ((?:[\w,*]+ |:: |< |>>? )*)>>?$")  # up to the arguments of a call
_READERS = frozenset({"strlen", "strcmp", "strncmp"})  # they read elements that their text does not name
_SYMBOL = re.compile(r"[\w +\-*/%()]+")  # an integer that has one value in the whole nest, if its names have
_ROUNDED = re.compile(r"(?:(.+) \+ )?(\(.+\)|\w+) / (\d+) \* \3")  # where ``jam`` lets its last loop begin


@final
@dataclass(frozen=True, slots=True)
class Effect:
    """``opaque``: some part of it is not understood.  ``scalars``: names assigned, but not declared, inside."""

    accesses: tuple[Access, ...]
    scalars: frozenset[str]
    opaque: bool

    @property
    def written(self) -> frozenset[str]:
        """The arrays written."""
        return frozenset(access.array for access in self.accesses if access.op) - self.scalars


def elements(text: str, pure: frozenset[str] = PURE) -> list[tuple[str, str]] | None:
    """The (array, index) pairs of an expression; None for calls of functions not known to be pure, and for other
    forms."""
    found: list[tuple[str, str]] = []
    words = lexed(text)
    for position, token in enumerate(words):
        following = words[position + 1].text if position + 1 < len(words) else ""
        before = [word.text for word in words[:position]]
        if token.text in _OBSCURE or _ASSIGNS.fullmatch(token.text):
            return None
        if following == "(" and _calls(token, before, pure):
            return None
        if following == "[" and not token.is_word:
            return None
        if following == "[":
            close = _closing(text, words[position + 1].start)
            found.append((token.text, text[words[position + 1].end : close]))
        if token.text == "*" and not _is_value(before):
            return None
    return found


def always_read(text: str) -> list[tuple[str, str]]:
    """The elements that an expression reads whatever their values are: those before a ``?``, ``&&`` or ``||``.
    Those behind may be out of bounds where they are not read."""
    chosen = (token.start for token in lexed(text) if token.text in ("?", "&&", "||", "and", "or"))
    data = text.encode("utf-8", "surrogateescape")
    return elements(data[: next(chosen, None)].decode("utf-8", "surrogateescape")) or []


def _calls(token: Token, before: Sequence[str], pure: frozenset[str]) -> bool:
    """Whether a bracket behind this token, which stands behind others, calls something that is not pure."""
    if token.is_word:
        scope = before[-2:-1] if before[-1:] == ["::"] else []
        is_own = scope not in ([], ["std"]) and scope[0].isidentifier()
        return is_own or token.text not in pure or token.text in _READERS
    if token.text in (">", ">>") and (called := _TEMPLATE.search(" ".join((*before, token.text)))) is not None:
        return called[1] != "static_cast" or "*" in called[2]
    is_cast = token.text == ")" and before[-1:] != [] and before[-1] in TYPES
    return token.text in (")", "]") and not is_cast


def _is_value(before: Sequence[str]) -> bool:
    """Whether a ``*`` after these words multiplies: they end with a value, and not with a type in brackets."""
    cast = before[-1:] == [")"] and before[-2:-1] and before[-2] in TYPES
    return bool(before) and not cast and re.fullmatch(r"[\w.]+|[)\]]", before[-1]) is not None


def _closing(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return position
    return len(text)


@lru_cache(maxsize=1 << 12)
def effect(body: Body, above: tuple[Loop, ...] = (), pure: frozenset[str] = PURE) -> Effect:
    """The effect of items, with the loops around them.  Integers declared inside are replaced by their values.  Nothing
    is known of the ends of a loop around the items that other items in it may change."""
    walker = _Walker(frozenset(_assigned(body)), frozenset(_declared(body)), pure)
    scope = _Scope()
    for loop in above:
        scope = walker.inside(loop if _keeps_its_ends(loop) else replace(loop, low="?", high="?"), scope)
    for part, item in enumerate(body):
        walker.part = part
        scope = walker.take(item, scope)
    read = {word for item in every(body) if isinstance(item, Loop) for word in words_of_head(item)}
    changing = walker.scalars | {access.array for access in walker.found if access.op}
    arrays = {access.array for access in walker.found if access.index != ()}
    opaque = (
        walker.opaque or bool(read & changing) or bool(arrays & walker.scalars) or _is_passed(body, changing & arrays)
    )
    return Effect(delinearised(walker.found), frozenset(walker.scalars), opaque)


def _is_passed(body: Body, arrays: set[str]) -> bool:
    """Whether one of these arrays is named as a whole: a function may read its elements."""
    for text in {text for item in every(body) for text, _ in sides(item)}:
        words = [token.text for token in lexed(text)]
        if any(word in arrays and after != "[" for word, after in zip(words, [*words[1:], ""], strict=True)):
            return True
    return False


@lru_cache(maxsize=1 << 10)
def _keeps_its_ends(loop: Loop) -> bool:
    """Whether nothing in a loop may change its variable or a name in its ends, or give that name to something else."""
    names = words_of_head(loop) | {loop.var}
    inside = list(every(loop.body))
    own = _declared(loop.body) | {one.var for one in inside if isinstance(one, Loop)}
    if not names.isdisjoint(own | {target.partition("[")[0] for target in _assigned(loop.body)}):
        return False
    if any(isinstance(one, Other) and _may_change(one.text, names) for one in inside):
        return False
    unclear = (text for one in inside for text, _ in sides(one) if elements(text) is None)
    return not any(names & words_in(text) or set(_CALLED.findall(text)) - PURE for text in unclear)


def _may_change(text: str, names: set[str]) -> bool:
    """Whether a statement may change one of these names, or declares one."""
    if _QUIET.fullmatch(" ".join(text.split())) is None:
        return True
    return text.startswith(("double", "float", "int", "long")) and not names.isdisjoint(words_in(text))


def _assigned(body: Body) -> set[str]:
    return {item.target for item in every(body) if isinstance(item, Assign)}


def _declared(body: Body) -> set[str]:
    return {item.name for item in every(body) if isinstance(item, Declare)}


@final
@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean at a statement: the loops around, integers with known values, names declared in the region."""

    levels: tuple[Level, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    local: frozenset[str] = frozenset()


@final
@dataclass(slots=True)
class _Walker:
    """One walk through the statements in the order of the text."""

    assigned: frozenset[str]
    declared: frozenset[str]
    pure: frozenset[str]
    found: list[Access] = field(default_factory=list)
    scalars: set[str] = field(default_factory=set)
    opaque: bool = False
    part: int = 0
    _loops: int = 0
    _statements: int = 0

    def take(self, item: Item, scope: _Scope) -> _Scope:
        """Notes the accesses of an item; returns the scope of the next."""
        self.opaque = self.opaque or isinstance(item, Other)
        self._statements += 1
        for text, op in sides(item):
            self._note(text, op, scope)
        inner = self.inside(item, scope) if isinstance(item, Loop) else scope
        for body in children(item):
            below = inner
            for one in body:
                below = self.take(one, below)
        return self._after(item, scope) if isinstance(item, Declare) else scope

    def inside(self, loop: Loop, scope: _Scope) -> _Scope:
        """The scope inside a loop."""
        var = f"{loop.var}.{self._loops}"
        self._loops += 1
        lows = [self.value(text, scope) for text in extremes(loop.low, ">")]
        highs = [self.value(text, scope) for text in extremes(loop.high, "<")]
        lows += [self.value(text, scope) for text in _least(loop)]
        step = self.value(loop.step, scope) or number(1)
        level = Level(var, _some(lows), _some(highs), step)
        known = {name: value for name, value in scope.known.items() if loop.var not in words_in(value)}
        known.pop(loop.var, None)
        return replace(scope, levels=(*scope.levels, level), variables={**scope.variables, loop.var: var}, known=known)

    def _after(self, item: Declare, scope: _Scope) -> _Scope:
        known = dict(scope.known)
        known.pop(item.name, None)
        if item.type in _INTEGERS and item.name not in self.assigned:
            known[item.name] = substituted(item.value, known)
        return replace(scope, known=known, local=scope.local | {item.name})

    def _note(self, text: str, op: str, scope: _Scope) -> None:
        found = elements(substituted(text, dict(scope.known)), self.pure)
        self.opaque = self.opaque or found is None
        whole = re.match(r"\w+\[", text) is not None
        if op and not whole:
            self._note_scalar(text, op, scope)
        for position, (array, index) in enumerate(found or []):
            written = op if position == 0 and whole else ""
            self._add(array, (self.value(index, scope),), written, scope)
        for word in words_in(text) & self.assigned - scope.local if not op or whole else ():
            self._add(word, (), "", scope)

    def _note_scalar(self, target: str, op: str, scope: _Scope) -> None:
        self.opaque = self.opaque or not target.isidentifier() or target in scope.variables
        if target not in scope.local:
            self.scalars.add(target)
            self._add(target, (), op, scope)

    def _add(self, array: str, index: tuple[Poly | None, ...], op: str, scope: _Scope) -> None:
        made = Access(array, index, op, scope.levels, self._statements, self.part)
        if made not in self.found:
            self.found.append(made)

    def value(self, text: str, scope: _Scope) -> Poly | None:
        """An integer expression over the loops around and over names that do not change; None if it is neither."""
        text = substituted(text, dict(scope.known))
        found = polynomial(text)
        words = words_in(text)
        if words & (self.assigned | (self.declared & scope.local)) - set(scope.known):
            return None
        if found is None:
            fixed = _SYMBOL.fullmatch(text) is not None and not words & set(scope.variables)
            return {("".join(text.split()),): 1} if fixed else None
        return renamed(found, scope.variables)


def _some(bounds: list[Poly | None]) -> tuple[Poly, ...]:
    return tuple(bound for bound in bounds if bound is not None)


def _least(loop: Loop) -> list[str]:
    """What no iteration is below, if a loop up to x begins at ``x / 4 * 4`` or at ``low + (x - low) / 4 * 4``: division
    rounds to zero, and there is no iteration if x is below ``low``."""
    found = _ROUNDED.fullmatch(loop.low)
    if found is None:
        return []
    base = found[1] or "0"
    low, high, length = (polynomial(text) for text in (base, loop.high, found[2]))
    same = low is not None and high is not None and length == added(high, low, -1)
    return [base] if same else []


def sides(item: Item) -> Iterator[tuple[str, str]]:
    """(expression, op) pairs of an item; ``op`` is "" for a read."""
    match item:
        case Loop():
            yield from ((item.low, ""), (item.high, ""))
        case Declare():
            yield item.value, ""
        case Assign():
            yield from ((item.value, ""), (item.target, item.op))
        case Branch():
            yield item.test, ""
        case Other():
            pass
