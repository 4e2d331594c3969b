"""Less arithmetic, if the text proves that the result is the same except for rounding."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from maxcode.code.cpp.edit import Edit
from maxcode.code.cpp.unit import Unit
from maxcode.policy.rules.modules.operations import Operation, is_number, known
from maxcode.policy.rules.modules.rules.fusing import lines_of
from maxcode.policy.rules.modules.shapes import Shapes, dims_of
from maxcode.policy.rules.modules.sheet import Op, Sheet, read, value_named, values_in
from maxcode.policy.rules.modules.writing import New, changed, replaced, without_dead

_AT_MOST = 40  # rewrites in sequence
_text = ast.unparse


class Rewrite(NamedTuple):
    """An operation that is replaced by others: ``expr`` replaces it, where ``ARG_0``, ``ARG_1`` ... are the results of
    ``before``, which come first."""

    value: int
    what: str
    expr: ast.expr
    before: Sequence[str] = ()


@final
@dataclass(frozen=True)
class RewriteSite:
    """An operation that may be rewritten, with the facts about it."""

    sheet: Sheet
    shapes: Shapes
    op: Op
    kind: Operation

    def maker(self, node: ast.expr) -> Operation | None:
        """The operation that makes an operand, if nothing else uses it."""
        value = value_named(node)
        if value is None or self.sheet.uses(value) != values_in(self.op.expr).count(value):
            return None
        return known(self.sheet, self.sheet.op(value))

    def rewrite(self, what: str, written: str, *before: str) -> Rewrite:
        return Rewrite(self.op.value, what, parsed(written), before)


def simplify(unit: Unit) -> Iterable[Edit]:
    """Drop operations without effect (clones, products with 1, reductions of one element), take numbers out of sums and
    into matrix products, and sum the weights in place of the outputs of a product.

    Shapes come from get_inputs, the constructor's arguments and the layers; without a known shape nothing is changed.
    """
    sheet = read(unit.text)
    if sheet is None:
        return
    first = list(rewrites(sheet))
    everything, told = _all(sheet)
    if len(told) > 1:
        yield _edit(sheet, everything, "everything", "; ".join(dict.fromkeys(told)))
    for number, one in enumerate(first, 1):
        yield _edit(sheet, applied(sheet, one), f"{one.what}#{number}", one.what)


def _edit(sheet: Sheet, after: Sheet, site: str, what: str) -> Edit:
    change = changed(sheet, New(after.ops, after.result))
    return Edit("simplify", site, (), f"less arithmetic: {what}", lines_of(sheet), change)


def _all(sheet: Sheet) -> tuple[Sheet, list[str]]:
    told: list[str] = []
    while len(told) < _AT_MOST and (one := next(rewrites(sheet), None)) is not None:
        sheet = applied(sheet, one)
        told.append(one.what)
    return sheet, told


def rewrites(sheet: Sheet) -> Iterator[Rewrite]:
    """The rewrites that are possible now, those that save most first."""
    shapes = Shapes(sheet)
    kinds = [(op, known(sheet, op)) for op in sheet.ops]
    places = [RewriteSite(sheet, shapes, op, kind) for op, kind in kinds if kind is not None]
    for rule in _RULES:
        yield from (found for place in places if (found := rule(place)) is not None)


def applied(sheet: Sheet, one: Rewrite) -> Sheet:
    """The sheet after a rewrite, without operations that are not needed any more."""
    at = next(at for at, op in enumerate(sheet.ops) if op.value == one.value)
    fresh = max(op.value for op in sheet.ops) + 1
    names = {f"ARG_{number}": f"_v{fresh + number}" for number in range(len(one.before))}

    def filled(node: ast.expr | str) -> ast.expr:
        written = ast.unparse(node) if isinstance(node, ast.expr) else node
        for name, value in names.items():
            written = written.replace(name, value)
        return parsed(written)

    before = [Op(fresh + number, filled(text)) for number, text in enumerate(one.before)]
    expr = filled(one.expr)
    ops, result = [*sheet.ops[:at], *before, Op(one.value, expr), *sheet.ops[at + 1 :]], sheet.result
    if value_named(expr) is not None:
        ops = [Op(op.value, replaced(op.expr, {one.value: expr})) for op in ops if op.value != one.value]
        result = replaced(result, {one.value: expr})
    return replace(sheet, ops=tuple(without_dead(sheet, ops, result)), result=result)


def parsed(written: str) -> ast.expr:
    """An expression's tree."""
    return ast.parse(written, mode="eval").body


def _made(place: RewriteSite, value: int | None) -> bool:
    """Whether forward made a value and does not return it under another name."""
    return value is not None and value >= len(place.sheet.inputs)


# ------------------------------------------------------------------------------------------------------------ the rules


def _copy(place: RewriteSite) -> Rewrite | None:
    returned = place.op.value in values_in(place.sheet.result)
    if place.kind.kind in ("clone", "detach", "identity") and place.kind.value is not None and not returned:
        return place.rewrite("a copy that nobody writes to", _text(place.kind.operand))
    return None


def _reduction_of_one(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    if kind.kind not in ("sum", "mean", "amax", "amin", "logsumexp") or not _made(place, kind.value):
        return None
    shape = place.shapes.operand(kind.operand)
    dims = dims_of(shape, kind.values) if shape is not None else None
    if shape is None or not dims or math.prod(shape[at] for at in dims) != 1 or kind.values.get("dim") is None:
        return None
    return _kept(place, kind, dims)


def _kept(place: RewriteSite, kind: Operation, dims: Sequence[int]) -> Rewrite | None:
    what = f"the {kind.kind} of one element"
    if kind.values.get("keepdim") is True:
        return place.rewrite(what, _text(kind.operand))
    if len(dims) == 1:
        return place.rewrite(what, f"{_text(kind.operand)}.squeeze({dims[0]})")
    return None


def _neutral(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    if kind.kind not in ("mul", "div", "add", "sub") or not _made(place, kind.value):
        return None
    neutral = 1 if kind.kind in ("mul", "div") else 0
    if is_number(place.sheet, kind.other) and place.sheet.value(kind.other) == neutral:
        return place.rewrite(f"{kind.kind} of {neutral}", _text(kind.operand))
    return None


def _scaled(place: RewriteSite, kind: Operation | None) -> tuple[ast.expr, str] | None:
    """A product with a number: the scaled expression, and the factor."""
    if kind is None or kind.kind not in ("mul", "div"):
        return None
    if is_number(place.sheet, kind.other) and place.sheet.value(kind.other) != 0:
        factor = _text(kind.other)
        return kind.operand, f"({factor})" if kind.kind == "mul" else f"(1.0 / ({factor}))"
    if kind.kind == "mul" and is_number(place.sheet, kind.operand):
        return kind.other, f"({_text(kind.operand)})"
    return None


def _factor_out_of_sum(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    scaled = _scaled(place, place.maker(kind.operand)) if kind.kind in ("sum", "mean") else None
    if scaled is None or kind.value is None or "dim" not in kind.values:
        return None
    inner = replaced(place.op.expr, {kind.value: scaled[0]})
    return place.rewrite("a factor after the sum", f"ARG_0 * {scaled[1]}", _text(inner))


def _factors(place: RewriteSite) -> Rewrite | None:
    outer = _scaled(place, place.kind)
    inner = _scaled(place, place.maker(outer[0])) if outer is not None else None
    if outer is None or inner is None or value_named(inner[0]) is None:
        return None
    return place.rewrite("two factors in one", f"{_text(inner[0])} * ({inner[1]} * {outer[1]})")


def _scale_and_add(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    if kind.kind != "add":
        return None
    for one, other in ((kind.operand, kind.other), (kind.other, kind.operand)):
        scaled = _scaled(place, place.maker(one))
        if scaled is not None and value_named(scaled[0]) is not None and _text(scaled[0]) == _text(other):
            return place.rewrite("x * a + x in one product", f"{_text(other)} * ({scaled[1]} + 1)")
    return None


def _sum_of_product(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    if kind.kind not in ("sum", "mean") or kind.values.get("keepdim") not in (True, False):
        return None
    inner, shape = place.maker(kind.operand), place.shapes.operand(kind.operand)
    if inner is None or shape is None or dims_of(shape, kind.values) != (len(shape) - 1,) or len(shape) < 2:
        return None
    if (parts := _product(place, inner, kind.kind)) is None:
        return None
    matrix, bias = parts
    before = [f"torch.matmul({_text(inner.operand)}, {matrix})"]
    before += [f"ARG_0 + {bias}"] if bias else []
    last = f"ARG_{len(before) - 1}" + (".unsqueeze(-1)" if kind.values["keepdim"] else ".clone()")
    return place.rewrite("weights summed in place of outputs", last, *before)


def _diagonal(place: RewriteSite) -> Rewrite | None:
    kind = place.kind
    other = kind.given.get("other", kind.given.get("mat2"))
    inner = place.maker(kind.operand) if kind.kind in ("matmul", "mm") and other is not None else None
    if other is None or inner is None or inner.kind != "diag" or inner.values.get("diagonal") != 0:
        return None
    if len(place.shapes.operand(inner.operand) or ()) != 1 or len(place.shapes.operand(other) or ()) != 2:
        return None
    return place.rewrite(
        "rows scaled in place of a diagonal matrix", f"{_text(inner.operand)}.unsqueeze(1) * {_text(other)}"
    )


def _product(place: RewriteSite, inner: Operation, how: str) -> tuple[str, str] | None:
    """The vector that gives the sum over the last dimension of a product, and the bias's share."""
    if inner.kind == "Linear":
        bias = f"self.{inner.layer}.bias.{how}()" if has_bias(place.sheet, inner.layer) else ""
        return f"self.{inner.layer}.weight.{how}(0)", bias
    if inner.kind in ("matmul", "mm") and value_named(inner.operand) is not None:
        other = inner.given.get("other", inner.given.get("mat2"))
        shape = place.shapes.operand(other)
        if other is not None and shape is not None and len(shape) == 2:
            return f"({_text(other)}).{how}(1)", ""
    return None


def _factor_into_product(place: RewriteSite) -> Rewrite | None:
    scaled = _scaled(place, place.kind)
    inner = place.maker(scaled[0]) if scaled is not None else None
    if scaled is None or inner is None or inner.kind != "Linear" or not has_bias(place.sheet, inner.layer):
        return None
    if len(place.shapes.operand(inner.operand) or ()) != 2:
        return None
    layer, factor = f"self.{inner.layer}", scaled[1]
    written = f"torch.addmm({layer}.bias, {_text(inner.operand)}, {layer}.weight.t(), beta={factor}, alpha={factor})"
    return place.rewrite("a factor inside the matrix product", written)


def has_bias(sheet: Sheet, layer: str) -> bool:
    """Whether a linear layer has a bias, which is its third argument."""
    found = sheet.layers[layer]
    return bool(found.args[2] if len(found.args) > 2 else found.keywords.get("bias", True))


_RULES: tuple[Callable[[RewriteSite], Rewrite | None], ...] = (
    _copy,
    _reduction_of_one,
    _neutral,
    _factors,
    _scale_and_add,
    _factor_out_of_sum,
    _diagonal,
    _sum_of_product,
    _factor_into_product,
)
