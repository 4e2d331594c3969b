"""Extracts a kernel from PolyBench/C: from ``NAME.c`` and ``NAME.h`` to a function of its own.  Pure.

The text changes only as follows.  Macros of PolyBench are resolved (types, sizes, loop bounds, functions of a type).
Arrays become pointers in their row-major layout (``A[i][j]`` -> ``A[i * n + j]``).  Counters are declared in their
loops.  Numbers passed by value come through a pointer, because the harness makes only arrays fresh.  Result arrays are
those of ``print_array``, the suite's own list of live-out data; other arrays that the kernel writes are scratch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from tree_sitter import Node

from maxcode.code.cpp.expand import split
from maxcode.code.source import Token, decode, encode, parse, text_of, tokens, walk
from maxcode.errors import InputError

_SIZES = re.compile(r"#\s*ifdef\s+(\w+)_DATASET\b(.*?)#\s*endif", re.DOTALL)
_DEFINED = re.compile(r"#\s*define\s+(\w+)\s+(\d+)\b")
_BOUND = re.compile(r"#\s*define\s+_PB_(\w+)\s+POLYBENCH_LOOP_BOUND\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
_TYPE = re.compile(r"#\s*define\s+DATA_TYPE_IS_(INT|FLOAT|DOUBLE)\b")
_SCOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop[ \t]*\n", re.MULTILINE)
_ABOVE = re.compile(r"^(?:typedef[ \t]+(\w+)[ \t]+(\w+);|#[ \t]*define[ \t]+(\w+)\([^\n]*)$", re.MULTILINE)
_ARRAY = re.compile(r"POLYBENCH_([123])D")
_FUNCTIONS = {"SQRT_FUN": "sqrt", "EXP_FUN": "exp", "POW_FUN": "pow"}
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "++", "--"})
_BLANK = re.compile(rb"\s*")
_EMPTY = re.compile(r"\n(?:[ \t]*\n){2,}")
_PLAIN = re.compile(r"\w+|[-+*/()]")


@final
@dataclass(frozen=True, slots=True)
class Header:
    """The content of ``NAME.h``: sizes by set and macro, the variable of each macro, and the type of the data."""

    sizes: Mapping[str, Mapping[str, int]]
    variables: Mapping[str, str]
    ctype: str


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the kernel.  ``extents`` is empty for a number; ``access`` as in ``types.Argument``; ``given`` is
    the name of the harness's argument, if it is not the same object."""

    name: str
    ctype: str
    extents: tuple[str, ...] = ()
    access: str = "in"
    given: str = ""

    @property
    def argument(self) -> str:
        """The argument in the syntax of problem.toml."""
        if self.ctype == "int" and not self.extents:
            return f"int {self.name}"
        prefix = {"in": "const ", "inout": "inout ", "scratch": "scratch "}[self.access]
        return f"{prefix}{self._passed} {self.given or self.name}[{'*'.join(self.extents) or '1'}]"

    @property
    def declared(self) -> str:
        """The parameter in the syntax of C."""
        if self.ctype == "int" and not self.extents:
            return f"int {self.name}"
        return f"{'const ' if self.access == 'in' else ''}{self._passed} *{self.given or self.name}"

    @property
    def unpacked(self) -> str:
        """The lines that convert the harness's argument to the kernel's parameter; empty if they are the same."""
        if not self.given:
            return ""
        if not self.extents:
            return f"    {self.ctype} {self.name} = {self.given}[0];\n"
        size = self.extents[0]
        copy = f"    for (int i = 0; i < {size}; i++) {self.name}[i] = ({self.ctype}){self.given}[i];\n"
        return f"    {self.ctype} {self.name}[{size}];\n{copy}"

    @property
    def _passed(self) -> str:
        return self.ctype if self.ctype in ("double", "float", "int") else "int"


@final
@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel on its own: ``source`` and ``header`` are whole files."""

    function: str
    parameters: tuple[Parameter, ...]
    source: str
    header: str


def read_header(name: str, text: str) -> Header:
    """The parsed header; InputError if its layout is not that of 4.2.1."""
    sizes = {found[1]: dict(_numbers(found[2])) for found in _SIZES.finditer(text) if _DEFINED.search(found[2])}
    variables = {found[2]: found[3] for found in _BOUND.finditer(text)}
    kind = _TYPE.search(text)
    if not sizes or not variables or kind is None:
        raise InputError(f"{name}.h has no sizes, loop bounds or type as PolyBench/C 4.2.1 writes them")
    return Header(sizes, variables, kind[1].lower())


def _numbers(text: str) -> Iterator[tuple[str, int]]:
    return ((found[1], int(found[2])) for found in _DEFINED.finditer(text))


def read_kernel(name: str, text: str, header: Header) -> Kernel:
    """The kernel of ``NAME.c``; InputError with the part that cannot be read."""
    text = text.replace("\r\n", "\n")
    words = [token for token in tokens(text) if not token.directive]
    function = f"kernel_{name.replace('-', '_')}"
    head, body = _definition(words, function, name)
    types = {"DATA_TYPE": header.ctype, "int": "int", **{one[2]: one[1] for one in _ABOVE.finditer(text) if one[2]}}
    parameters = [_parameter(part, types, name) for part in split(head)]
    results = _printed(words, types, name)
    written = {word.text for at, word in enumerate(body) if _is_written(body, at)}
    known = tuple(_with_access(one, results, written) for one in parameters)
    if not any(one.access == "inout" for one in known):
        raise InputError(f"{name}.c: print_array prints no array that {function} writes")
    data = encode(text)
    inside = decode(data[body[0].start : body[-1].end])
    above = "".join(f"{one[0]}\n" for one in _ABOVE.finditer(text) if re.search(rf"\b{one[2] or one[3]}\b", inside))
    code = _resolved(data, body, known, header, name)
    return _assembled(name, function, known, above, code)


def _assembled(name: str, function: str, known: tuple[Parameter, ...], above: str, code: str) -> Kernel:
    signature = f"void {function}({', '.join(one.declared for one in known)})"
    includes = f'#include "{name}.h"\n' + (
        "\n#include <math.h>\n" if re.search(r"\b(?:sqrt|exp|pow)f?\(", code) else ""
    )
    unpacked = "".join(one.unpacked for one in known)
    source = f"{includes}\n{above}{signature} {{\n{unpacked}{code[1:].lstrip(chr(10))}\n"
    return Kernel(function, known, _with_local_counters(source), f"{signature};\n")


# --------------------------------------------------------------------------------------------------------- reading C


def _definition(words: Sequence[Token], function: str, name: str) -> tuple[Sequence[Token], Sequence[Token]]:
    """The tokens between the parentheses of a function's definition, and those of its body with the braces."""
    for at, word in enumerate(words[:-1]):
        if word.text == function and words[at + 1].text == "(":
            close = _match(words, at + 1)
            if close + 1 < len(words) and words[close + 1].text == "{":
                return words[at + 2 : close], words[close + 1 : _match(words, close + 1) + 1]
    raise InputError(f"{name}.c defines no function {function}, which PolyBench/C 4.2.1 has there")


def _match(words: Sequence[Token], at: int) -> int:
    """The position of the bracket that closes the one at ``at``; the last token if there is none."""
    depth = 0
    for here in range(at, len(words)):
        depth += (words[here].text in "([{") - (words[here].text in ")]}")
        if depth == 0:
            return here
    return len(words) - 1


def _parameter(words: Sequence[Token], types: Mapping[str, str], name: str) -> Parameter:
    texts = [word.text for word in words]
    ctype = types.get(texts[0] if texts else "")
    if ctype is not None and len(texts) == 2:
        return Parameter(texts[1], ctype, given="" if ctype == "int" else f"{texts[1]}_in")
    array = _ARRAY.fullmatch(texts[1]) if ctype is not None and len(texts) > 3 else None
    if array is None or ctype is None:
        raise InputError(f"{name}.c: the parameter `{' '.join(texts)}` is not one that the harness can pass")
    inside = ["".join(word.text for word in part) for part in split(words[3:-1])]
    ranks = int(array[1])
    if len(inside) != 1 + 2 * ranks or (ctype not in ("double", "float", "int") and ranks > 1):
        raise InputError(f"{name}.c: the parameter `{' '.join(texts)}` is not one that the harness can pass")
    narrow = ctype not in ("double", "float", "int")
    return Parameter(inside[0], ctype, tuple(inside[1 + ranks :]), given=f"{inside[0]}_in" if narrow else "")


def _printed(words: Sequence[Token], types: Mapping[str, str], name: str) -> set[str]:
    """The arrays that print_array reads; a mere parameter does not count."""
    head, body = _definition(words, "print_array", name)
    known = {one.name for one in (_parameter(part, types, name) for part in split(head)) if one.extents}
    return {word.text for word, after in pairwise(body) if word.text in known and after.text == "["}


def _is_written(body: Sequence[Token], at: int) -> bool:
    """Whether the name at ``at`` is an array with an assignment to one of its elements there."""
    here = at + 1
    if here >= len(body) or body[here].text != "[" or not body[at].is_word:
        return False
    while body[here].text == "[":
        here = _match(body, here) + 1
    return body[here].text in _ASSIGNS


def _with_access(one: Parameter, results: set[str], written: set[str]) -> Parameter:
    if not one.extents or one.name not in written:
        return one
    return Parameter(one.name, one.ctype, one.extents, "inout" if one.name in results else "scratch", one.given)


# --------------------------------------------------------------------------------------------------------- rewriting


def _resolved(data: bytes, body: Sequence[Token], known: Sequence[Parameter], header: Header, name: str) -> str:
    """The text of the body without PolyBench's macros, with one subscript per array."""
    suffix = "f" if header.ctype == "float" else ""
    renamed = {"DATA_TYPE": header.ctype, **{key: word + suffix for key, word in _FUNCTIONS.items()}}
    renamed |= {f"_PB_{key}": variable for key, variable in header.variables.items()} | dict(header.variables)
    extents = {one.name: one.extents for one in known if len(one.extents) > 1}
    changes: list[tuple[int, int, str]] = []
    for at, word in enumerate(body):
        if word.text == "SCALAR_VAL":
            changes += _literal(body, at, suffix, name)
        elif word.text in renamed:
            changes.append((word.start, word.end, renamed[word.text]))
        elif word.text in extents:
            changes += _flat(body, at, extents[word.text], name)
    found = _SCOP.sub("", _applied(data, body[0].start, body[-1].end, changes))
    if (left := re.search(r"^[ \t]*#.*", found, re.MULTILINE)) is not None:
        raise InputError(f"{name}.c: the kernel has a directive that cannot be resolved: {left[0].strip()}")
    return found


def _applied(data: bytes, start: int, end: int, changes: Sequence[tuple[int, int, str]]) -> str:
    parts, at = [], start
    for begin, stop, text in sorted(changes):
        parts += [decode(data[at:begin]), text]
        at = stop
    return "".join([*parts, decode(data[at:end])])


def _literal(body: Sequence[Token], at: int, suffix: str, name: str) -> Iterator[tuple[int, int, str]]:
    """``SCALAR_VAL(-2.0)`` -> ``(-2.0f)``."""
    close = _match(body, at + 1)
    text = "".join(word.text for word in body[at + 2 : close])
    if re.fullmatch(r"-?[\d.]+", text) is None:
        raise InputError(f"{name}.c: SCALAR_VAL({text}) is no number")
    number = text + suffix
    yield body[at].start, body[close].end, f"({number})" if text.startswith("-") else number


def _flat(body: Sequence[Token], at: int, extents: Sequence[str], name: str) -> Iterator[tuple[int, int, str]]:
    """``A[i-1][j][k]`` -> ``A[((i-1) * n + j) * n + k]``, as changes around the subscripts, which stay."""
    here = at + 1
    for rank, _ in enumerate(extents):
        if here >= len(body) or body[here].text != "[":
            raise InputError(f"{name}.c: {body[at].text} is used with less than {len(extents)} subscripts")
        close = _match(body, here)
        single = close == here + 2
        if not all(_PLAIN.fullmatch(word.text) for word in body[here + 1 : close]):
            raise InputError(f"{name}.c: a subscript of {body[at].text} is not a sum of counters")
        last = rank == len(extents) - 1
        if rank == 0:
            opened = "[" + "(" * (len(extents) - 2) + ("" if single else "(")
            yield body[here].start, body[here].end, opened
        if not last:
            after = ("" if single or rank else ")") + (")" if rank else "")
            yield body[close].start, body[close + 1].end, f"{after} * {extents[rank + 1]} + "
        here = close + 1


def _with_local_counters(source: str) -> str:
    """``int i, j; ... for (i = 0;`` -> ``for (int i = 0;`` if a counter is used only in loops over it."""
    unit = parse("c", source)
    changes: list[tuple[int, int, str]] = []
    for declaration in (node for node in walk(unit.root) if node.type == "declaration"):
        names = [text_of(one) for one in declaration.named_children[1:] if one.type == "identifier"]
        if text_of(declaration.named_children[0]) != "int" or len(names) + 1 != len(declaration.named_children):
            continue
        local = [name for name in names if _loops_only(unit.root, declaration, name)]
        left = [name for name in names if name not in local]
        end = declaration.end_byte + (0 if left else len(_BLANK.match(unit.data, declaration.end_byte)[0]))  # type: ignore[index]
        changes.append((declaration.start_byte, end, f"int {', '.join(left)};" if left else ""))
        changes += [(at, at, "int ") for name in local for at in _starts(unit.root, name)]
    return _EMPTY.sub("\n\n", _applied(unit.data, 0, len(unit.data), changes))


def _starts(root: Node, name: str) -> list[int]:
    """The positions where loops over the counter set it."""
    return [made.start_byte for made in filter(None, (_made(node, name) for node in walk(root)))]


def _made(node: Node, name: str) -> Node | None:
    """The ``i = 0`` of a loop over the counter."""
    made = node.child_by_field_name("initializer") if node.type == "for_statement" else None
    if made is None or made.type != "assignment_expression":
        return None
    left = made.child_by_field_name("left")
    return made if left is not None and text_of(left) == name else None


def _loops_only(root: Node, declaration: Node, name: str) -> bool:
    uses = [node for node in walk(root) if node.type == "identifier" and text_of(node) == name]
    return all(use.parent == declaration or _is_in_loop(use, name) for use in uses)


def _is_in_loop(use: Node, name: str) -> bool:
    node = use.parent
    while node is not None:
        if _made(node, name) is not None:
            return True
        if node.type == "for_statement" and node.child_by_field_name("initializer") is not None:
            made = node.child_by_field_name("initializer")
            if made is not None and made.type == "declaration" and re.match(rf"int {name}\b", text_of(made)):
                return True
        node = node.parent
    return False
