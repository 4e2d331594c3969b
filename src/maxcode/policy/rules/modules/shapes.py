"""Shapes of the values of a sheet, if known from the text, and the values that hold 32-bit floats."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from maxcode.code.cpp.words import words
from maxcode.policy.rules.modules.operations import ELEMENTWISE, REDUCTIONS, Operation, known
from maxcode.policy.rules.modules.sheet import Sheet, value_named
from maxcode.policy.rules.modules.values import UnknownValue

Shape = tuple[int, ...]
Sides = tuple[int, int]
_KEEP = ELEMENTWISE | words(
    "softmax log_softmax layer_norm LayerNorm BatchNorm2d clone detach map same contiguous identity"
)


class Shapes:
    """``of``: value -> its shape; ``floats``: values that hold floats; unknown values are in neither."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.of: dict[int, Shape] = dict(sheet.shapes)
        self.floats = set(sheet.floats)
        for op in sheet.ops:
            found = known(sheet, op)
            if found is None:
                continue
            if (shape := self._shape(found)) is not None:
                self.of[op.value] = shape
            if found.value is None or found.value in self.floats:
                self.floats.add(op.value)

    def operand(self, node: Any) -> Shape | None:
        """The shape of an argument: a value, a parameter, or a number, which has none."""
        value = value_named(node)
        if value is not None:
            return self.of.get(value)
        return parameter_shape(self.sheet, node)

    def _shape(self, op: Operation) -> Shape | None:
        first = self.operand(op.operand)
        if op.kind in ("add", "sub", "mul", "div"):
            return broadcast(first, self.operand(op.other))
        if first is None and op.kind != "addmm":
            return None
        if op.kind in _KEEP:
            return first
        if op.kind in REDUCTIONS and op.kind not in ("max", "min"):
            return reduced(first or (), op.values)
        return self._product(op, first or ())

    def _product(self, op: Operation, first: Shape) -> Shape | None:
        if op.kind == "Linear":
            width = _argument(self.sheet, op.layer, 1, "out_features")
            return (*first[:-1], width) if isinstance(width, int) else None
        if op.kind in ("matmul", "mm") and len(first) >= 2:
            second = self.operand(op.given.get("other", op.given.get("mat2")))
            return (*first[:-1], second[-1]) if second is not None and len(second) == 2 else None
        if op.kind == "linear":
            weight = self.operand(op.given.get("weight"))
            return (*first[:-1], weight[0]) if weight is not None and len(weight) == 2 else None
        if op.kind == "diag" and len(first) == 1 and op.values.get("diagonal") == 0:
            return first * 2
        if op.kind == "addmm":
            left, right = self.operand(op.given.get("mat1")), self.operand(op.given.get("mat2"))
            return (left[0], right[1]) if left is not None and right is not None and len(right) == 2 else None
        if op.kind == "Conv2d" and len(first) == 4:
            return self._convolved(op.layer, first)
        if op.kind in ("max_pool2d", "avg_pool2d") and len(first) == 4:
            return pooled(first, op.values)
        return None

    def _convolved(self, layer: str, first: Shape) -> Shape | None:
        sizes = [_argument(self.sheet, layer, at, name, default) for at, name, default in _CONV]
        if not all(isinstance(one, (int, tuple)) for one in sizes):
            return None
        channels, *rest = sizes
        sides = _slid(first, *(pair(one) for one in rest))
        return (first[0], channels, *sides) if isinstance(channels, int) else None


_CONV = ((1, "out_channels", None), (2, "kernel_size", None), (3, "stride", 1), (4, "padding", 0), (5, "dilation", 1))


def pair(value: Any) -> Sides:
    """A number for both sides, or one number for each."""
    return (value[0], value[1]) if isinstance(value, (tuple, list)) else (value, value)


def parameter_shape(sheet: Sheet, node: Any) -> Shape | None:
    """The shape of ``self.weight`` or of its transpose."""
    if isinstance(node, ast.Attribute):
        written = ast.unparse(node)
        if written.startswith("self.") and written[5:] in sheet.parameters:
            return sheet.parameters[written[5:]]
        layer, _, name = written[5:].partition(".")
        if written.startswith("self.") and layer in sheet.layers and sheet.layers[layer].kind == "Linear":
            return _of_linear(sheet, layer, name)
    match node:
        case ast.Attribute(value=whole, attr="T") | ast.Call(func=ast.Attribute(value=whole, attr="t")):
            inside = parameter_shape(sheet, whole)
            return inside[::-1] if inside is not None and len(inside) == 2 else None
    try:
        return () if type(sheet.value(node)) in (int, float) else None
    except (UnknownValue, AttributeError):
        return None


def _of_linear(sheet: Sheet, layer: str, name: str) -> Shape | None:
    sizes = _argument(sheet, layer, 1, "out_features"), _argument(sheet, layer, 0, "in_features")
    if name not in ("weight", "bias") or not all(isinstance(one, int) for one in sizes):
        return None
    return sizes if name == "weight" else sizes[:1]


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of a sum of two; None if one is not known or they do not fit."""
    if left is None or right is None:
        return None
    long, short = (left, right) if len(left) >= len(right) else (right, left)
    short = (1,) * (len(long) - len(short)) + short
    if any(a != b and 1 not in (a, b) for a, b in zip(long, short, strict=True)):
        return None
    return tuple(max(a, b) if 0 not in (a, b) else 0 for a, b in zip(long, short, strict=True))


def dims_of(shape: Shape, values: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The dimensions of a reduction, from the front; None if they are not known."""
    if "dim" not in values or values.get("keepdim", False) not in (True, False):
        return None
    dim = values["dim"]
    chosen = range(len(shape)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    if not all(isinstance(one, int) and -len(shape) <= one < len(shape) for one in chosen):
        return None
    return tuple(sorted({one % len(shape) for one in chosen}))


def reduced(shape: Shape, values: Mapping[str, Any]) -> Shape | None:
    """The shape after a reduction."""
    dims = dims_of(shape, values)
    if dims is None or "keepdim" not in values:
        return None
    if values["keepdim"]:
        return tuple(1 if at in dims else size for at, size in enumerate(shape))
    return tuple(size for at, size in enumerate(shape) if at not in dims)


def pooled(shape: Shape, values: Mapping[str, Any]) -> Shape | None:
    """The shape after a pooling of the last two dimensions."""
    if values.get("ceil_mode") is not False or values.get("kernel_size") is None or "stride" not in values:
        return None
    kernel, padding, dilation = pair(values["kernel_size"]), pair(values["padding"]), pair(values.get("dilation", 1))
    stride = pair(values["stride"]) if values["stride"] is not None else kernel
    return (shape[0], shape[1], *_slid(shape, kernel, stride, padding, dilation))


def _slid(shape: Shape, kernel: Sides, stride: Sides, padding: Sides, dilation: Sides) -> Shape:
    """The last two sizes after a window has slid over them."""
    return tuple(
        (shape[2 + at] + 2 * padding[at] - dilation[at] * (kernel[at] - 1) - 1) // stride[at] + 1 for at in (0, 1)
    )


def _argument(sheet: Sheet, layer: str, at: int, name: str, default: Any = None) -> Any:
    found = sheet.layers[layer]
    return found.args[at] if at < len(found.args) else found.keywords.get(name, default)
