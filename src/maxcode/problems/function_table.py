"""The table ``[function]`` of problem.toml: from text to a ``FunctionSpec``.

    [function]
    name = "gemm"
    header = "gemm.h"
    arguments = ["int m", "int n", "int k", "const double A[m*k]", "const double B[k*n]", "double C[m*n]"]
    timed = [{ m = 256, n = 256, k = 256 }]
    checked = [{ m = 7, n = 17, k = 5 }]
    flop = "2*m*n*k"            # of one call
    bytes = "8*(m*k+k*n+m*n)"   # optional: what any right call must read and write at least
    inputs = "inputs.c"         # optional; also: calls, slots, tolerance
    tolerances = { C = 1e-6 }   # optional: of single arrays; without: 1e-9, float 1e-5, whole numbers must be the same
    domain = { A = "[0, 1]", n = "1..4096" }   # optional: which values an argument may have (domains.py)

An array that is not const is written; ``inout double X[n]`` and ``scratch double X[n]`` are read and written; the
final content of a scratch array is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast, final

from maxcode.code.domains import domain_of
from maxcode.code.expressions import value_of
from maxcode.core.types import Argument, FunctionSpec
from maxcode.errors import InputError, unknown

_ARGUMENT = re.compile(r"(?:(const|inout|scratch) +)?(double|float|int|long) +([A-Za-z_]\w*)(?:\[([^\[\]]+)\])?")
_ACCESS: dict[str | None, Literal["in", "out", "inout", "scratch"]] = {
    "const": "in",
    None: "out",
    "inout": "inout",
    "scratch": "scratch",
}
_MOST_ARRAYS = 16  # as in shim_calls.h
_MOST_BYTES = 1 << 28  # of all the arrays of a pass: each pass makes and compares them
_WIDTHS = {"double": 8, "float": 4, "int": 4, "long": 8}
_MOST_SLOTS = 65536  # as in shim_calls.h
_TOLERANCES = {"double": 1e-9, "float": 1e-5}  # where the problem gives none; a float has seven digits


@final
@dataclass(frozen=True, slots=True)
class FunctionTable:
    """The table as the user writes it."""

    name: str = ""
    header: str = ""
    arguments: tuple[str, ...] = ()
    timed: tuple[Mapping[str, int], ...] = ()
    checked: tuple[Mapping[str, int], ...] = ()
    flop: str = ""
    inputs: str = ""
    calls: int = 8
    slots: int = 1
    tolerance: float | None = None
    bytes: str = ""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    domain: Mapping[str, str] = field(default_factory=dict)


def function_spec(table: FunctionTable, read: Callable[[str], str]) -> FunctionSpec:
    """The checked table with the texts of its files, which ``read`` gives; InputError with the key that cannot be
    used."""
    for key in ("name", "header", "arguments", "timed", "flop"):
        if not getattr(table, key):
            raise InputError(f"[function] needs `{key}`; see docs/how-to/functions.md for an example")
    if (
        min(table.calls, table.slots) < 1
        or table.slots > _MOST_SLOTS
        or (table.tolerance is not None and not table.tolerance > 0)
    ):
        raise InputError(
            f"[function]: calls and slots must be 1 or more, slots at most {_MOST_SLOTS}, tolerance above 0"
        )
    arguments = tuple(_argument(text) for text in table.arguments)
    floats = [one.name for one in arguments if one.ctype == "float" and one.access in ("out", "inout")]
    by_type = dict.fromkeys(floats, _TOLERANCES["float"]) if table.tolerance is None else {}
    spec = FunctionSpec(
        name=table.name,
        arguments=arguments,
        timed=(),
        checked=(),
        flop=table.flop,
        header_name=table.header,
        header=read(table.header),
        inputs=read(table.inputs) if table.inputs else "",
        calls=table.calls,
        slots=table.slots,
        tolerance=_TOLERANCES["double"] if table.tolerance is None else table.tolerance,
        moved=table.bytes,
        tolerances=tuple(sorted({**by_type, **table.tolerances}.items())),
        domain=tuple(sorted(table.domain.items())),
    )
    spec = replace(
        spec,
        timed=tuple(_size(spec, one) for one in table.timed),
        checked=tuple(_size(spec, one) for one in table.checked),
    )
    _check(spec)
    return spec


def _argument(text: str) -> Argument:
    match = _ARGUMENT.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"[function]: cannot read the argument '{text}'; write `int n`, `const double A[n*n]`, `double C[n]` or "
            "`inout double X[n]` or `scratch double X[n]`, with the number of elements in brackets"
        )
    prefix, ctype, name, extent = match.groups()
    kind = cast(Literal["double", "float", "int", "long"], ctype)
    if extent is None:
        if ctype not in ("int", "long") or prefix in ("inout", "scratch"):
            raise InputError(f"[function]: '{text}' must be int or long; only sizes can be passed as numbers")
        return Argument(name, kind)
    return Argument(name, kind, extent, _ACCESS[prefix])


def _size(spec: FunctionSpec, given: Mapping[str, int]) -> tuple[int, ...]:
    names = [one.name for one in spec.scalars]
    if set(given) != set(names):
        raise InputError(f"[function]: the size {dict(given)} must give a value to each of {', '.join(names)}")
    return tuple(given[name] for name in names)


def _check(spec: FunctionSpec) -> None:
    arrays = spec.arrays
    if not any(one.access in ("out", "inout") for one in arrays) or len(arrays) > _MOST_ARRAYS:
        raise InputError(
            f"[function]: it needs a result array (neither const nor scratch), and at most {_MOST_ARRAYS} arrays"
        )
    if not any(one.access != "out" for one in arrays):
        raise InputError(
            "[function]: it needs an array that is read, because a result that depends on sizes alone can be stored"
        )
    _check_words(spec)
    names = [one.name for one in spec.scalars]
    for size in (*spec.timed, *spec.checked):
        values = dict(zip(names, size, strict=True))
        sizes = [_WIDTHS[one.ctype] * value_of(one.extent, values) for one in arrays]
        if min(sizes) < 0 or value_of(spec.flop, values) < 0 or value_of(spec.moved or "0", values) < 0:
            raise InputError(f"[function]: at {values} an extent, flop or bytes is below 0")
        rounds = spec.calls if size in spec.timed else 1
        if sum(sizes) * rounds * spec.slots > _MOST_BYTES:
            raise InputError(f"[function]: at {values} the arrays of {rounds} x {spec.slots} calls exceed 256 MB")


def _check_words(spec: FunctionSpec) -> None:
    """InputError for a tolerance or a domain of something that has none, or that cannot be read."""
    written = {one.name for one in spec.arrays if one.access in ("out", "inout")}
    for name, tolerance in spec.tolerances:
        if name not in written:
            raise unknown("array in `tolerances` of [function]:", name, written)
        if not tolerance > 0:
            raise InputError(f"[function]: the tolerance of {name} is {tolerance}, and must be above 0")
    given = {one.name: one for one in spec.arguments if one.access != "out"}
    for name, text in spec.domain:
        if name not in given:
            raise unknown("argument in `domain` of [function]:", name, given)
        for size in (*spec.timed, *spec.checked):
            values = {one.name: value for one, value in zip(spec.scalars, size, strict=True)}
            known = {} if name in values else values  # a size is in no other's words: they are drawn one by one
            found = domain_of(text, known, given[name].ctype in ("int", "long"))
            if name in values and found.which == "between" and not found.low <= values[name] <= found.high:
                raise InputError(f"[function]: the size {values} is outside the domain '{text}' of {name}")
