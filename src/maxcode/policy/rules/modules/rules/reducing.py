"""Reductions over the last dimensions, and poolings, in C++."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.modules import cpp
from maxcode.policy.rules.modules.maps import Group, Leaf, groups, steps
from maxcode.policy.rules.modules.operations import Operation, known
from maxcode.policy.rules.modules.rules.fusing import fresh_names, lines_of, replaced_by
from maxcode.policy.rules.modules.shapes import Shape, Shapes, dims_of, pair, pooled
from maxcode.policy.rules.modules.sheet import Sheet, read, value_named
from maxcode.policy.rules.modules.writing import New, changed, without_dead

_TWICE = frozenset(("softmax", "log_softmax", "LayerNorm"))  # kinds that read a row more than once


@final
@dataclass(frozen=True)
class RowReduction:
    """A reduction of rows of ``cols`` elements, with the elementwise operations before it in the same pass.  ``kept``:
    the number of the operand's dimensions in front of the row."""

    sheet: Sheet
    value: int
    kind: Operation
    cols: int
    kept: int
    before: Group | None

    @property
    def label(self) -> str:
        return f"{self.before.names} {self.kind.kind}" if self.before is not None else self.kind.kind

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The operands, tensors first."""
        if self.before is not None:
            return self.before.leaves
        return (Leaf(ast.unparse(self.kind.operand), self.kind.operand, "full"),)


def reduce(unit: Unit) -> Iterable[Edit]:
    """Do a reduction over the last dimensions (sum, mean, max, min, logsumexp, softmax, layer norm, cross entropy) in
    C++ in one or two passes, with the elementwise operations before it."""
    sheet = read(unit.text)
    if sheet is None:
        return
    for number, row in enumerate(rows(sheet), 1):
        name = fresh_names(sheet.text, "same" if row.kind.kind in _TWICE else "row", 1)[0]
        given = [leaf.expr for leaf in row.leaves] + _more(row)
        call = ast.Call(ast.Name(name, ast.Load()), given, [])
        ops = replaced_by(sheet.ops, set(row.before.members if row.before else ()), row.value, call)
        new = New(without_dead(sheet, ops, sheet.result), sheet.result, {name: native(row, name)})
        what = f"does {row.label} in C++, row by row"
        yield Edit("reduce", f"{row.label}#{number}", (), what, lines_of(sheet), changed(sheet, new))


def rows(sheet: Sheet) -> Iterator[RowReduction]:
    """The reductions that can be computed in this way, in the order of the text."""
    shapes = Shapes(sheet)
    before = {group.result: group for group in groups(sheet)}
    for op in sheet.ops:
        kind = known(sheet, op)
        if kind is None or kind.kind not in cpp.ROWS or kind.value not in shapes.floats:
            continue
        shape = shapes.operand(kind.operand)
        kept = _kept(sheet, kind, shape) if shape is not None else None
        if shape is None or kept is None or 0 in shape:
            continue
        cols = math.prod(shape[kept:])
        assert kind.value is not None
        group = before.get(kind.value)
        fits = group is not None and sheet.uses(kind.value) == 1 and _fits(group, kind, cols)
        yield RowReduction(sheet, op.value, kind, cols, kept, group if fits else None)


def _kept(sheet: Sheet, kind: Operation, shape: Shape) -> int | None:
    """The number of dimensions that stay in front; None if the reduction is not over the last ones."""
    if kind.kind == "LayerNorm":
        layer = sheet.layers[kind.layer]
        sizes = layer.args[0] if layer.args else layer.keywords.get("normalized_shape")
        sizes = tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,)
        plain = layer.whole and len(layer.args) <= 2 and set(layer.keywords) <= {"normalized_shape", "eps"}
        return len(shape) - len(sizes) if plain and shape[-len(sizes) :] == sizes else None
    if kind.kind == "cross_entropy":
        plain = set(kind.given) == {"target"} and value_named(kind.given["target"]) is not None
        return 1 if plain and len(shape) == 2 else None
    dims = dims_of(shape, kind.values)
    if not dims or dims != tuple(range(dims[0], len(shape))):
        return None
    single = kind.kind in ("softmax", "log_softmax")
    return None if single and (len(dims) != 1 or kind.values.get("dim") is None) else dims[0]


def _fits(group: Group, kind: Operation, cols: int) -> bool:
    if group.heavy and kind.kind in _TWICE:
        return False
    return all(leaf.kind in ("full", "number") or (leaf.kind, leaf.cols) == ("col", cols) for leaf in group.leaves)


def _more(row: RowReduction) -> list[ast.expr]:
    """Arguments besides the operands."""
    if row.kind.kind == "cross_entropy":
        return [row.kind.given["target"]]
    if row.kind.kind == "LayerNorm":
        written = (f"self.{row.kind.layer}.{name}" for name in ("weight", "bias", "eps"))
        return [ast.parse(one, mode="eval").body for one in written]
    return []


def native(row: RowReduction, name: str) -> str:
    """The native function of a row."""
    tensors = [leaf for leaf in row.leaves if leaf.kind != "number"]
    numbers = [leaf for leaf in row.leaves if leaf.kind == "number"]
    given = [f"x{at}" for at in range(len(tensors))], [f"s{at}" for at in range(len(numbers))]
    reads = {leaf.written: f"x{at}[{'start + ' if leaf.kind == 'full' else ''}j]" for at, leaf in enumerate(tensors)}
    names = {**reads, **{leaf.written: f"s{at}" for at, leaf in enumerate(numbers)}}
    lines, result = steps(row.before, names, " " * 12) if row.before else ("", reads[row.leaves[0].written])
    loss, norm = row.kind.kind == "cross_entropy", row.kind.kind == "LayerNorm"
    parameters = [f"const float *{one}" for one in given[0]] + [f"float {one}" for one in given[1]]
    parameters += ["const long *target"] if loss else []
    parameters += ["const float *weight", "const float *bias", "float eps"] if norm else []
    source = cpp.ROW.format(
        parameters="".join(f"{one}, " for one in parameters), steps=lines, result=result,
        body=cpp.ROWS[row.kind.kind].lstrip("\n"),
        first="    double loss = 0;\n    long counted = 0;\n" if loss else "",
        clause=" reduction(+ : loss, counted)" if loss else "",
        last="    *y = (float)(loss / counted);\n" if loss else "",
    )  # fmt: skip
    more = ["target"] if loss else ["weight", "bias", "eps"] if norm else []
    body = [f"{one} = {one}.contiguous()" for one in (*given[0], *more) if one != "eps"]
    called = [cpp.pointer(one) for one in given[0]] + [f"ctypes.c_float({one})" for one in given[1]]
    called += [f"ctypes.c_float({one})" if one == "eps" else cpp.pointer(one) for one in more]
    called += [cpp.pointer("y"), *cpp.longs(f"x0.numel() // {row.cols}", row.cols)]
    return cpp.call(name, source, [*given[0], *given[1], *more], [*body, f"y = {_output(row)}"], row.label, called)


def _output(row: RowReduction) -> str:
    if row.kind.kind == "cross_entropy":
        return "x0.new_empty(())"
    if row.kind.kind in _TWICE:
        return "torch.empty_like(x0)"
    dims = len(Shapes(row.sheet).operand(row.kind.operand) or ())
    ones = ", ".join(["1"] * (dims - row.kept)) if row.kind.values.get("keepdim") else ""
    return f"x0.new_empty((*x0.shape[:{row.kept}], {ones}))" if ones else f"x0.new_empty(x0.shape[:{row.kept}])"


# ------------------------------------------------------------------------------------------------------------- windows


def pool(unit: Unit) -> Iterable[Edit]:
    """Do a 2-D max or average pooling in C++: columns of all windows first, then their rows, without the indices of the
    maxima."""
    sheet = read(unit.text)
    if sheet is None:
        return
    shapes = Shapes(sheet)
    for number, op in enumerate(sheet.ops, 1):
        kind = known(sheet, op)
        if kind is None or kind.kind not in ("max_pool2d", "avg_pool2d") or kind.value not in shapes.floats:
            continue
        shape = shapes.operand(kind.operand)
        if shape is None or len(shape) != 4 or (to := pooled(shape, kind.values)) is None:
            continue
        name = fresh_names(sheet.text, "pool", 1)[0]
        call = ast.Call(ast.Name(name, ast.Load()), [kind.operand], [])
        new = New(replaced_by(sheet.ops, set(), op.value, call), sheet.result, {name: _pool(kind, name, shape, to)})
        what = f"does {kind.kind} in C++, columns first"
        yield Edit("pool", f"{kind.kind}#{number}", (), what, lines_of(sheet), changed(sheet, new))


def _pool(kind: Operation, name: str, shape: Shape, to: Shape) -> str:
    most = kind.kind == "max_pool2d"
    sizes: dict[str, Any] = {key: pair(kind.values[key]) for key in ("kernel_size", "padding")}
    stride = kind.values["stride"] if kind.values["stride"] is not None else kind.values["kernel_size"]
    dilation = pair(kind.values.get("dilation", 1))
    (kh, kw), (ph, pw), (sh, sw), (dh, dw) = sizes["kernel_size"], sizes["padding"], pair(stride), dilation
    source = cpp.POOL.format(
        kh=kh, kw=kw, ph=ph, pw=pw, sh=sh, sw=sw, dh=dh, dw=dw,
        empty="-INFINITY" if most else "0.0f",
        column="middle[j] < row[j] ? row[j] : middle[j]" if most else "middle[j] + row[j]",
        window="found < one ? one : found" if most else "found + one",
        scale="" if most else f" * (1.0f / {kh * kw})",
    )  # fmt: skip
    body = ["x = x.contiguous()", f"y = x.new_empty((x.shape[0], x.shape[1], {to[2]}, {to[3]}))"]
    given = [
        cpp.pointer("x"),
        cpp.pointer("y"),
        *cpp.longs("x.shape[0] * x.shape[1]", shape[2], shape[3], to[2], to[3]),
    ]
    return cpp.call(name, source, ["x"], body, kind.kind, given)
