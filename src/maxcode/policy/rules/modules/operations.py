"""The kind of an operation in forward, in any spelling: ``F.relu(x)``, ``x.relu()``, ``self.act(x)`` are one kind."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, NamedTuple

from maxcode.code.cpp.words import words
from maxcode.policy.rules.modules.sheet import Op, Sheet, value_named
from maxcode.policy.rules.modules.values import UnknownValue

# kind -> names of its parameters after the operand, with their defaults
SIGNATURES: dict[str, tuple[tuple[str, Any], ...]] = {
    "relu": (), "relu6": (), "sigmoid": (), "tanh": (), "silu": (), "mish": (), "hardswish": (), "hardsigmoid": (),
    "softsign": (), "abs": (), "square": (), "neg": (), "exp": (),
    "gelu": (("approximate", "none"),), "leaky_relu": (("negative_slope", 0.01),),
    "hardtanh": (("min_val", -1.0), ("max_val", 1.0)), "elu": (("alpha", 1.0),),
    "softplus": (("beta", 1.0), ("threshold", 20.0)), "clamp": (("min", None), ("max", None)),
    "sum": (("dim", None), ("keepdim", False)), "mean": (("dim", None), ("keepdim", False)),
    "amax": (("dim", None), ("keepdim", False)), "amin": (("dim", None), ("keepdim", False)),
    "max": (("dim", None), ("keepdim", False)), "min": (("dim", None), ("keepdim", False)),
    "logsumexp": (("dim", None), ("keepdim", False)),
    "softmax": (("dim", None),), "log_softmax": (("dim", None),),
    "layer_norm": (("normalized_shape", None), ("weight", None), ("bias", None), ("eps", 1e-5)),
    "cross_entropy": (("target", None), ("weight", None)),
    "max_pool2d": (("kernel_size", None), ("stride", None), ("padding", 0), ("dilation", 1), ("ceil_mode", False)),
    "avg_pool2d": (("kernel_size", None), ("stride", None), ("padding", 0), ("ceil_mode", False)),
    "clone": (), "detach": (), "contiguous": (), "identity": (), "t": (),
    "transpose": (("dim0", None), ("dim1", None)), "squeeze": (("dim", None),), "unsqueeze": (("dim", None),),
    "linear": (("weight", None), ("bias", None)), "matmul": (("other", None),), "mm": (("mat2", None),),
    "pow": (("exponent", None),), "diag": (("diagonal", 0),),
    "addmm": (("mat1", None), ("mat2", None), ("beta", 1), ("alpha", 1)),
    "add": (("other", None),), "sub": (("other", None),), "mul": (("other", None),), "div": (("other", None),),
}  # fmt: skip
SAME = {"multiply": "mul", "divide": "div", "true_divide": "div", "subtract": "sub", "hardtanh_": "hardtanh",
        "clip": "clamp", "hard_swish": "hardswish", "bmm": "matmul", "special.logsumexp": "logsumexp"}  # fmt: skip
LAYERS = {
    "ReLU": "relu", "ReLU6": "relu6", "Sigmoid": "sigmoid", "Tanh": "tanh", "SiLU": "silu", "Mish": "mish",
    "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid", "Softsign": "softsign", "GELU": "gelu",
    "LeakyReLU": "leaky_relu", "Hardtanh": "hardtanh", "ELU": "elu", "Softplus": "softplus", "Identity": "identity",
    "Softmax": "softmax", "LogSoftmax": "log_softmax", "MaxPool2d": "max_pool2d", "AvgPool2d": "avg_pool2d",
}  # fmt: skip
MODULES = ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "ConvTranspose3d", "LayerNorm", "BatchNorm2d")
ELEMENTWISE = words(
    "relu relu6 sigmoid tanh silu mish hardswish hardsigmoid softsign abs square neg exp gelu leaky_relu hardtanh elu "
    "softplus clamp pow add sub mul div"
)
REDUCTIONS = words("sum mean amax amin max min logsumexp")
# Operations that return a new tensor, to which nothing else refers.
FRESH = ELEMENTWISE | REDUCTIONS | frozenset(MODULES)
FRESH |= words("softmax log_softmax layer_norm linear matmul mm max_pool2d avg_pool2d map same native addmm clone")
_SPACES = ("torch", "F", "nn.functional", "torch.nn.functional", "torch.special")
_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul",
}  # fmt: skip
# The prefix of the names of our native functions; then "map" for elementwise ones, "same" for others whose result has
# the shape of their first argument.
NATIVE = "native_"


class Operation(NamedTuple):
    """An operation: its kind, its first operand, and its other arguments by name, as they are written.  ``layer``: the
    attribute that is called, if it is a layer; its numbers are in ``values``."""

    kind: str
    operand: ast.expr
    given: Mapping[str, ast.expr]
    values: Mapping[str, Any]
    layer: str = ""

    @property
    def value(self) -> int | None:
        """The first operand, if it is a value."""
        return value_named(self.operand)

    @property
    def other(self) -> ast.expr:
        """The second operand of a binary operation."""
        return self.given["other"]


def known(sheet: Sheet, op: Op | None) -> Operation | None:
    """The kind of an operation; None if there is none, or the rules do not know it or its arguments."""
    if op is None:
        return None
    match op.expr:
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return Operation(_BINARY[type(sign)], left, {"other": right}, {})
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=power)):
            return Operation("pow", left, {}, {"exponent": power})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Operation("neg", operand, {}, {})
        case ast.Subscript(value=ast.Name() as whole, slice=ast.Constant(value=0)):
            return _first_of(sheet, whole)
        case ast.Call(func=ast.Name(id=name)) if name.startswith(NATIVE):
            kind = next((kind for kind in ("map", "same") if name.startswith(f"{NATIVE}{kind}_")), "native")
            return Operation(kind, op.expr.args[0], {}, {})
        case ast.Call(func=func, args=args, keywords=keywords):
            return _called(sheet, func, args, keywords)
    return None


def _first_of(sheet: Sheet, whole: ast.expr) -> Operation | None:
    """``torch.max(x, dim)[0]``: the largest values, without their indices."""
    found = known(sheet, sheet.op(value_named(whole)))
    if found is None or found.kind not in ("max", "min") or found.values.get("dim") is None or found.value is None:
        return None
    return found._replace(kind="amax" if found.kind == "max" else "amin")


def _called(sheet: Sheet, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Operation | None:
    named = {one.arg: one.value for one in keywords if one.arg is not None}
    if isinstance(func, ast.Attribute) and value_named(func.value) is not None:
        return _bound(sheet, func.attr, [func.value, *args], named)
    written = ast.unparse(func)
    if written.startswith("self.") and written[5:] in sheet.layers and len(args) == 1 and not named:
        return _layer(sheet, written[5:], args[0])
    space, _, name = written.rpartition(".")
    if space in _SPACES:
        operand = [named.pop(key) for key in ("input", "self") if key in named]
        return _bound(sheet, name, [*operand, *args], named)
    return None


def _bound(sheet: Sheet, name: str, args: list[ast.expr], named: Mapping[str, ast.expr]) -> Operation | None:
    """A function's arguments by name, and their values if they are known from the text."""
    kind = SAME.get(name, name)
    named = {"keepdim" if key == "keepdims" else "dim" if key == "axis" else key: one for key, one in named.items()}
    named = {key: one for key, one in named.items() if key != "inplace"}
    if kind not in SIGNATURES or not args or len(args) - 1 > len(SIGNATURES[kind]):
        return None
    names = [key for key, _ in SIGNATURES[kind]]
    given = {**dict(zip(names, args[1:], strict=False)), **named}
    if not set(given) <= set(names):
        return None
    values = {key: default for key, default in SIGNATURES[kind] if key not in given}
    for key, node in given.items():
        try:
            values[key] = sheet.value(node)
        except UnknownValue:
            continue
    return Operation(kind, args[0], given, values)


def _layer(sheet: Sheet, name: str, operand: ast.expr) -> Operation | None:
    layer = sheet.layers[name]
    if layer.kind in MODULES:
        return Operation(layer.kind, operand, {}, {}, name)
    kind = LAYERS.get(layer.kind)
    if kind is None or not layer.whole:
        return None
    names = [key for key, _ in SIGNATURES[kind]]
    given = {**dict(zip(names, layer.args, strict=False)), **layer.keywords}
    given.pop("inplace", None)
    if not set(given) <= set(names):
        return None
    return Operation(kind, operand, {}, {**dict(SIGNATURES[kind]), **given}, name)


def is_number(sheet: Sheet, node: ast.expr) -> bool:
    """Whether an expression is a plain number, the same in every call."""
    try:
        return type(sheet.value(node)) in (int, float)
    except UnknownValue:
        return False
