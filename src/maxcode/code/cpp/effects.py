"""Finds the names that a piece of a program may change.  Every rule that moves or shares a value needs this.

It works on tokens with all macros expanded, so that ``#define inc(x) x++`` hides nothing.  In doubt the answer is "may
change".  It knows names, not objects: a reference or pointer made inside the piece counts as a change of its target.
The caller must handle aliases made elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

from tree_sitter import Node

from maxcode.code.cpp.expand import OPAQUE, expanded
from maxcode.code.cpp.unit import Unit
from maxcode.code.cpp.unnamed import hands_on_this, held, holders, lasting, unnamed, unread, words_of
from maxcode.code.cpp.views import classes, members, shows, takes_over
from maxcode.code.cpp.words import ASSIGN, CASTS, HARMLESS, ITERATORS, KEYWORDS, PRINTS, PURE, READING, TAKING
from maxcode.code.source import Token

_TYPE_WORDS = frozenset({"const", "unsigned", "signed", "auto", "void", "struct"})
_LEAVES = frozenset({"co_await", "co_yield", "asm", "__asm__", "->*", ".*"})  # to code that is not there
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """The effects of a piece of a program.

    ``writes``: names that it may change.
    ``calls``: functions of the program that it calls.
    ``opaque``: whether it may do more than the text shows (a call through a variable, an ambiguous macro).
    """

    writes: frozenset[str]
    calls: frozenset[str]
    outside: frozenset[str]  # called functions that are not in the program
    words: frozenset[str]
    opaque: bool


@final
class Effects:
    """The effects of the pieces of one program."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._known: dict[tuple[int, int], Summary] = {}
        self._closures: dict[str, Summary] = {}

    def of(self, start: int, end: int) -> Summary:
        """The effects of a range of bytes, without those of the functions that it calls."""
        if (start, end) not in self._known:
            self._known[start, end] = _Scan(self.unit, expanded(self.unit, start, end), start).summary()
        return self._known[start, end]

    def closure(self, name: str) -> Summary:
        """The effects of a function of the program, with those of all functions that it reaches."""
        if name not in self._closures:
            reached, waiting = {name}, [name]
            parts: list[Summary] = []
            while waiting:
                for function in self.unit.by_name.get(waiting.pop(), []):
                    parts.append(self.of(function.body.start_byte, function.body.end_byte))
                    waiting += sorted(parts[-1].calls - reached)
                    reached |= parts[-1].calls
            self._closures[name] = _union(parts, frozenset(reached))
        return self._closures[name]

    def may_change(self, name: str, start: int, end: int) -> bool:
        """Whether the variable called ``name`` at ``start`` may change between ``start`` and ``end``."""
        here = self.of(start, end)
        if name in here.writes or here.opaque:
            return True
        if self._is_private(name, start):
            return False
        return name in self.unnamed or any(self._reaches(name, start, self.closure(call)) for call in here.calls)

    def _reaches(self, name: str, offset: int, called: Summary) -> bool:
        if called.opaque or name in called.writes:
            return True
        parameter = self.unit.parameter(name, offset)
        return parameter is not None and any(v.home is None and v.name in called.writes for v in self.unit.variables)

    def _is_private(self, name: str, offset: int) -> bool:
        """Whether other functions can reach the variable only through their arguments."""
        parameter = self.unit.parameter(name, offset)
        variable = self.unit.variable(name, offset)
        if variable is not None and variable.home is not None:
            return variable.form in ("plain", "array") and not variable.lasts
        return parameter is not None and parameter.kind == "value"

    @cached_property
    def unnamed(self) -> frozenset[str]:
        """The names that constructors, destructors and operators of the program may change outside of their objects."""
        return lasting(self.unit) & frozenset[str]().union(*(part.writes - own for own, part in self._unnamed))

    @cached_property
    def _unnamed(self) -> list[tuple[frozenset[str], Summary]]:
        parts = [(code.own, self.of(*code.span)) for code in unnamed(self.unit)]
        return parts + [(own, self.closure(name)) for own, part in parts for name in sorted(part.calls)]

    @cached_property
    def _tells(self) -> bool:
        """Whether an operator or a constructor does more than it returns."""
        return bool(self.unnamed) or any(part.opaque or part.words & PRINTS for _, part in self._unnamed)

    def pure(self, node: Node) -> bool:
        """Whether one evaluation more or less of the expression makes no difference."""
        here = self.of(node.start_byte, node.end_byte)
        if here.writes or here.opaque or here.calls or here.outside - PURE:
            return False
        kinds = [self.unit.type_of(word, node.start_byte) or "" for word in here.words]
        made = {word for kind in kinds for word in re.findall(r"\w+", kind)} if self._tells else set[str]()
        return not any("map<" in kind for kind in kinds) and classes(self.unit).keys().isdisjoint(made)

    def steady(self, node: Node, start: int, end: int) -> bool:
        """Whether the expression is pure and has the same value anywhere between two bytes."""
        if not self.pure(node):
            return False
        words = self.of(node.start_byte, node.end_byte).words
        return not any(self.may_change(word, start, end) for word in words)


def _union(parts: list[Summary], calls: frozenset[str]) -> Summary:
    return Summary(
        frozenset().union(*(part.writes for part in parts)),
        calls,
        frozenset().union(*(part.outside for part in parts)),
        frozenset().union(*(part.words for part in parts)),
        any(part.opaque for part in parts),
    )


@lru_cache(maxsize=64)
def effects(unit: Unit) -> Effects:
    """The effects of the pieces of ``unit``, cached for the latest programs."""
    return Effects(unit)


# ------------------------------------------------------------------------------------------------------ the scanner


class _Scan:
    """One pass over expanded tokens; names are looked up at ``offset``."""

    def __init__(self, unit: Unit, found: list[Token], offset: int, is_held: bool = False) -> None:
        self.unit, self.found, self.offset, self.is_held = unit, found, offset, is_held
        self.texts = [token.text for token in found]
        self.close = self._brackets()
        self.open = {end: start for start, end in self.close.items()}
        self.callee = self._callees()
        self.writes = {*members(unit)[0]} if "this" in self.texts and hands_on_this(self.texts) else set[str]()
        self.calls: set[str] = set()
        self.outside: set[str] = set()
        self.opaque = any(token is OPAQUE or token.text in _LEAVES for token in found)

    def _brackets(self) -> dict[int, int]:
        close: dict[int, int] = {}
        waiting: list[int] = []
        for position, text in enumerate(self.texts):
            if text in _CLOSING:
                waiting.append(position)
            elif text in ")]}" and waiting:
                close[waiting.pop()] = position
        return close

    def _callees(self) -> list[tuple[int, int]]:
        """For each token: the position of the name of the call around it (-1: none), and the number of the argument."""
        result: list[tuple[int, int]] = []
        around: list[list[int]] = [[-1, 0]]
        for position, text in enumerate(self.texts):
            if text in ")]}" and len(around) > 1:
                around.pop()
            result.append((around[-1][0], around[-1][1]))
            if text in _CLOSING:
                called = position > 0 and self._is_name(position - 1) and (text == "(" or self._keeps(text, position))
                around.append([position - 1 if called else -1, 0])
            elif text == ",":
                around[-1][1] += 1
        return result

    def _keeps(self, text: str, position: int) -> bool:
        """Whether a brace begins the members of an object that may refer to others."""
        kind = self.texts[position - 1]
        return text == "{" and kind in classes(self.unit) and shows(self.unit, kind)

    def _is_name(self, position: int) -> bool:
        return self.found[position].is_word and self.texts[position] not in KEYWORDS

    def _at(self, position: int) -> str:
        return self.texts[position] if 0 <= position < len(self.texts) else ""

    def summary(self) -> Summary:
        """The effects of all tokens."""
        for position in range(len(self.texts)):
            if not self._is_name(position) or (self._at(position - 1) in (".", "->") and not self._is_own(position)):
                continue
            if self._at(position + 1) == "(":
                self._call(position)
            else:
                self._name(position)
        self._aliases()
        words = frozenset(self.texts[k] for k in range(len(self.texts)) if self._is_name(k))
        return Summary(frozenset(self.writes), frozenset(self.calls), frozenset(self.outside), words, self.opaque)

    def _is_own(self, position: int) -> bool:
        """Whether a member is named by ``this->`` or ``(*this).``."""
        around = self.texts[max(0, position - 5) : position]
        return around[-2:] == ["this", "->"] or around == ["(", "*", "this", ")", "."]

    def _call(self, position: int) -> None:
        name = self.texts[position]
        if self._declares(position):
            self.writes.add(name)
            return
        if name in self.unit.by_name:
            self.calls.add(name)
        elif name not in CASTS and name not in self.unit.aliases:
            self.outside.add(name)
            known = self.unit.variable(name, self.offset) or self.unit.parameter(name, self.offset)
            elsewhere = (name in self.unit.shared and name not in PURE) or name in unread(self.unit)
            unknown = held(self.unit, name, self.found[position].start) == "?"
            self.opaque = self.opaque or known is not None or elsewhere or unknown
        after = self.close.get(position + 1, position) + 1
        if self._at(after) in ASSIGN or self._at(after) in (".", "[", "->"):
            self._alias_of_result(position, after)

    def _alias_of_result(self, position: int, after: int) -> None:
        """``f(x) = 1``, ``f(x)[i] = 1``: all arguments of the call may change."""
        end, methods = self._chain(after)
        if self._at(end) in ASSIGN or any(method not in READING for method in methods):
            self.writes |= words_of(self.unit, self.texts[position])  # it may return any of these
            for inside in range(position, after):
                if self._is_name(inside):
                    self.writes.add(self.texts[inside])

    def _chain(self, position: int) -> tuple[int, list[str]]:
        """The position after the subscripts, fields and method calls that follow a name, and the methods called."""
        methods: list[str] = []
        while True:
            text = self._at(position)
            if text == "[" and position in self.close:
                position = self.close[position] + 1
            elif text in (".", "->") and position + 1 < len(self.texts):
                if self._at(position + 2) == "(":
                    methods.append(self.texts[position + 1])
                    position = self.close.get(position + 2, len(self.texts)) + 1
                else:
                    position += 2
            else:
                return position, methods

    def _name(self, position: int) -> None:
        name = self.texts[position]
        end, methods = self._chain(position + 1)
        first = position
        while self._at(end) == ")" and self._opens(first, end):
            first = self.open.get(end, -1)
            end, more = self._chain(end + 1)
            methods += more
        while self._at(first - 1) == "*" and not self._ends_operand(first - 2):
            first -= 1
        before = self._at(first - 1)
        unary = before == "&" and not self._ends_operand(first - 2)
        changed = self._at(end) in ASSIGN or self._at(end) in ("++", "--") or before in ("++", "--", ">>") or unary
        self.calls |= {method for method in methods if method in self.unit.by_name}
        self.opaque = self.opaque or any(m in self.unit.shared and m not in READING for m in methods)
        is_function = self._code(position, end, methods)
        kind = self.unit.type_of(name, self.offset) if self._at(end) == "<<" else None
        changed = changed or (kind is not None and "stream" in kind) or self._is_chosen(first, end)
        escapes = bool(methods) and methods[-1] in ITERATORS and before in ("=", "return")
        if changed or escapes or any(m not in READING or m in self.unit.by_name for m in methods):
            self.writes.add(name)
        elif before in ("(", ",", "{", "*", "?", ":") and self._at(end) in (",", ")", "}", ":"):
            self._argument(position, bool(methods) and methods[-1] in ITERATORS, is_function)

    def _code(self, position: int, end: int, methods: list[str]) -> bool:
        """Whether a name is that of a function; also calls of what is behind a name: ``f[i](x)``, ``(*f)(x)``."""
        name, start = self.texts[position], self.found[position].start
        is_function = name in self.unit.by_name and self.unit.type_of(name, start) is None
        self.calls |= {name} if is_function else set()  # whoever is given it may call it
        holds = name in holders(self.unit)
        if self._at(end) == "(" and end > position + 1 and self._at(position - 1) != "new":
            holds = holds or self._at(end - 1) == "]" or self.unit.type_of(name, start) is not None
            self.opaque = self.opaque or holds
        self.opaque = self.opaque or not holders(self.unit).isdisjoint(methods)
        return is_function

    def _hand_on(self, position: int) -> None:
        """A variable is given to code that is not in the program, and may run what it holds."""
        code = held(self.unit, self.texts[position], self.found[position].start)
        if isinstance(code, str):
            self.opaque = self.opaque or code == "?"
            self.calls |= {code} & self.unit.by_name.keys()
            return
        self.opaque = self.opaque or self.is_held
        found = [] if self.is_held else expanded(self.unit, code.start_byte, code.end_byte)
        inside = _Scan(self.unit, found, code.start_byte, is_held=True).summary()
        self.writes |= inside.writes
        self.calls |= inside.calls
        self.outside |= inside.outside
        self.opaque = self.opaque or inside.opaque

    def _opens(self, first: int, close: int) -> bool:
        """Whether the bracket closed here contains only a name, perhaps dereferenced: ``(*p)`` or ``(x)``."""
        opening = self.open.get(close, -1)
        bare = opening >= 0 and all(text in "(*" for text in self.texts[opening:first])
        return bare and not (opening > 0 and self._is_name(opening - 1))

    def _is_chosen(self, first: int, end: int) -> bool:
        """Whether a name is one of several, in brackets, of which one is changed: ``(c ? a : b) = 1``."""
        if self._at(first - 1) not in ("?", ":", ",") and self._at(end) not in (":", ","):
            return False
        around, depth = first - 1, 0
        while around >= 0 and (depth or self.texts[around] != "(") and self.texts[around] not in ";{}":
            depth += (self.texts[around] == ")") - (self.texts[around] == "(")
            around -= 1
        close = self.close.get(around, -1) if self._at(around) == "(" else -1
        if close < 0 or (around > 0 and self._is_name(around - 1)):
            return False
        after, methods = self._chain(close + 1)
        changed = self._at(after) in ASSIGN or not {self._at(after), self._at(around - 1)}.isdisjoint({"++", "--"})
        unary = self._at(around - 1) == "&" and not self._ends_operand(around - 2)
        changed = changed or unary or self._at(around - 1) == ">>"
        return changed or any(method not in READING for method in methods)

    def _ends_operand(self, position: int) -> bool:
        text = self._at(position)
        return text in (")", "]") or (text.replace("_", "a")[:1].isalnum() and text not in KEYWORDS)

    def _argument(self, position: int, is_address: bool, is_function: bool) -> None:
        name, (callee, number) = self.texts[position], self.callee[position]
        if callee < 0:
            return
        called, before = self.texts[callee], self._at(callee - 1)
        if called in self.unit.by_name:
            kind = self.unit.type_of(name, self.found[position].start)
            is_address = is_address or (kind is not None and shows(self.unit, kind))
            if any(takes_over(self.unit, function, number, is_address) for function in self.unit.by_name[called]):
                self.writes.add(name)
            return
        self._hand_on(position)
        if before in (".", "->"):
            if called in TAKING:
                self.writes.add(name)
        elif called not in HARMLESS and not is_function and not (self._is_type(callee) or self._declares(callee)):
            self.writes.add(name)

    def _declares(self, position: int) -> bool:
        """Whether a name before a bracket is a declaration: ``vector<int> v(n)``, ``int x(5)``, ``T* p(q)``."""
        position -= 1
        while self._at(position) in ("*", "&") and position > 0:
            position -= 1
            if not (self._is_type(position) or self._at(position) in (">", "*", "&")):
                return False
        before = self._at(position)
        if before == ">":
            return self._closes_template(position)
        return bool(before) and (before[0].isalpha() or before[0] == "_") and before not in KEYWORDS - _TYPE_WORDS

    def _is_type(self, position: int) -> bool:
        text = self._at(position)
        return text in CASTS or text in self.unit.aliases or text in _TYPE_WORDS

    def _closes_template(self, position: int) -> bool:
        """Whether a ``>`` ends ``name<...>`` that contains only names, numbers and commas."""
        depth = 0
        while position >= 0:
            text = self._at(position)
            depth += {">": 1, ">>": 2, "<": -1}.get(text, 0)
            if depth == 0:
                return position > 0 and self._is_name(position - 1)
            if not (text in (">", ">>", "<", ",", "::", "*", "&") or text[0].isalnum() or text[0] == "_"):
                return False
            position -= 1
        return False

    def _aliases(self) -> None:
        """References and pointers bound here: ``auto& x = v[i]``, ``for (auto& x : v)``, ``int *p = a``."""
        for position, text in enumerate(self.texts):
            before = self._at(position - 1)
            captured = text == "&" and before in ("[", ",")  # ``[&x = v]``
            if text not in ("&", "&&", "*") or not (self._ends_operand(position - 1) or before == ">" or captured):
                continue
            name_end = self.close.get(position + 1, position + 1) + 1  # after `x` or `[a, b]`
            if self._at(name_end) not in ("=", ":") or "const" in self.texts[max(0, position - 4) : position]:
                continue
            for inside in range(name_end + 1, len(self.texts)):
                if self.texts[inside] == ";":
                    break
                if self._is_name(inside):
                    self.writes.add(self.texts[inside])
                if self._at(name_end) == ":" and self.texts[inside] == ")":
                    break
