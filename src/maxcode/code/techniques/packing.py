"""Finds packing: the program copies part of an input, in another order, into its own buffer and reads it there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maxcode.code.techniques.keywords import Found
from maxcode.code.techniques.syntax import Call, Unit, words

SMALL = 32  # elements; a local array of at most this size is a set of registers
_ALLOCATES = re.compile(
    r"\b(?:malloc|calloc|realloc|aligned_alloc|alloca|__builtin_alloca\w*|new|_mm_malloc|mmap|make_unique|valloc)\b"
)
_COPIES = re.compile(r"(?:std\s*::\s*)?(?:memcpy|memmove|__builtin_memcpy|__builtin_memmove|copy|copy_n)")
_STORES = re.compile(r"\w*store\w*")
_CALLED = re.compile(r"\b(\w++)\s*\(")

Name = tuple[str, str]  # function ("" for a global), variable


def packed(unit: Unit) -> Iterator[Found]:
    """The copies in a text that pack."""
    return _Buffers(unit).packs()


class _Buffers:
    """Knows which names stand for memory that the program allocates itself."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.names: set[Name] = set()
        for array in unit.arrays:
            self._note_array(array.at, array.text)
        for write in unit.writes:
            if _ALLOCATES.search(write.value):
                self.names.add((self._where(write.at), write.name))
        for call in unit.calls:
            if call.name == "posix_memalign" and call.arguments:
                self.names |= {(self._where(call.at), name) for name in words(call.arguments[0])}
        self._note_containers()
        for _ in range(3):
            self._pass_on()
        self._drop_accumulators()

    def _where(self, at: int) -> str:
        function = self.unit.function_at(at)
        return function.name if function is not None else ""

    def _note_array(self, at: int, text: str) -> None:
        size = 1
        for extent in re.findall(r"\[([^\]]*)\]", text):
            value = self.unit.value(extent)
            size *= SMALL + 1 if value is None else max(1, value)
        name = re.match(r"\W*(\w+)", text)
        if size > SMALL and name:
            self.names.add((self._where(at), name[1]))

    def _note_containers(self) -> None:
        for container in re.finditer(r"\b(?:vector|valarray|unique_ptr|array)\s*<[^;()]*>\s*(\w+)", self.unit.text):
            self.names.add((self._where(len(self.unit.text[: container.start()].encode())), container[1]))

    def _pass_on(self) -> None:
        """Marks aliases of buffers, and parameters that receive a buffer."""
        for write in self.unit.writes:
            where = self._where(write.at)
            if write.op == "=" and self.is_buffer(where, _pointed(write.value)):
                self.names.add((where, write.name))
        for call in self.unit.calls:
            if (function := self.unit.by_name.get(call.name)) is not None:
                for name, argument in zip(function.parameters, call.arguments, strict=False):
                    if self.is_buffer(self._where(call.at), _pointed(argument)):
                        self.names.add((function.name, name))

    def _drop_accumulators(self) -> None:
        for store in self.unit.stores:
            if store.op != "=":
                where = self._where(store.at)
                self.names -= {(place, name) for place in (where, "") for name in _outside(store.left)}

    def is_buffer(self, where: str, name: str) -> bool:
        """Whether a name in a function stands for a buffer."""
        return (where, name) in self.names or ("", name) in self.names

    def _touches(self, where: str, text: str) -> bool:
        return any(self.is_buffer(where, name) for name in _outside(text))

    def packs(self) -> Iterator[Found]:
        """The stores and calls that copy from other memory into a buffer, with another index."""
        for store in self.unit.stores:
            if store.op == "=" and self._is_looped(store.at) and self._moves(store.at, store.left, store.right):
                yield Found(store.line, "packing")
        for call in self.unit.calls:
            if len(call.arguments) > 1 and self._call_moves(call):
                yield Found(call.line, "packing")

    def _call_moves(self, call: Call) -> bool:
        where, first, last = self._where(call.at), call.arguments[0], call.arguments[-1]
        if _STORES.fullmatch(call.name):
            return self._is_looped(call.at) and self._touches(where, first) and self._is_loaded(call.at, last)
        if not _COPIES.fullmatch(call.name):
            return False
        into, source = (first, call.arguments[1]) if "mem" in call.name else (last, first)
        is_whole = source.strip().isidentifier()
        return self._touches(where, into) and not self._touches(where, source) and not is_whole

    def _is_looped(self, at: int) -> bool:
        return any(loop.body.holds(at) for loop in self.unit.loops)

    def _moves(self, at: int, left: str, right: str) -> bool:
        where = self._where(at)
        if not self._touches(where, left):
            return False
        if self._is_loaded(at, right):
            return True
        sources: list[str] = re.findall(r"([A-Za-z_]\w*)\s*(?:\[|\+\+)", right)
        if right.startswith("*"):
            sources += re.findall(r"\*\s*\(?\s*(?:\([^)]*\)\s*)?\(?\s*([A-Za-z_]\w*)", right)
        if len(sources) != 1 or self.is_buffer(where, sources[0]) or re.search(r"[a-z_]\w*\s*\((?!.*\?)", right):
            return False
        return _index(left) != _index(right)

    def _is_loaded(self, at: int, text: str) -> bool:
        """Whether a value is read from other memory, directly or through one variable."""
        where = self._where(at)
        if _loads(text):
            return not self._touches(where, text)
        if not text.strip().isidentifier():
            return False
        values = [w.value for w in self.unit.given.get(text.strip(), []) if self._where(w.at) == where]
        reads = [value for value in values if "[" in value or value.startswith("*") or _loads(value)]
        plain = [v for v in reads if not re.search(r"\]\s*[-+*/]|[-+*/]\s*\w+\s*\[", v)]
        return bool(values) and len(plain) == len(values) and not any(self._touches(where, v) for v in plain)


def _outside(text: str) -> set[str]:
    """The names of an expression that are not part of an index."""
    for _ in range(4):
        text = re.sub(r"\[[^\[\]]*\]", " ", text)
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _index(text: str) -> str:
    return re.sub(r"\s", "", "".join(re.findall(r"\[.*\]", text, re.DOTALL)))


def _pointed(value: str) -> str:
    """The name whose address an expression takes or counts from; empty if there is none."""
    plain = re.sub(r"^\s*(?:\([\w\s*]*\*\s*\)\s*)?[&(]*\s*", "", value)
    found = re.match(r"[A-Za-z_]\w*", plain)
    is_element = "[" in plain and not value.lstrip().startswith("&")
    return found[0] if found and not is_element else ""


def _loads(text: str) -> bool:
    """Whether it calls what is named as a load."""
    return any("load" in name for name in _CALLED.findall(text))
