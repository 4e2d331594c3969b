"""Generated kernels: small loop nests of the kinds that numeric programs have, as folders with ``problem.toml``.

They are for training alone: names, loop orders, transposed operands and sizes are drawn, and none is a kernel of a
suite or of the examples by name.  Every nest is one function of doubles that writes its outputs wholly, or is given
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import final

import tomli_w

from maxcode.code.expressions import value_of

FLAGS = ("-std=gnu17", "-O3", "-march=native", "-ffast-math")
CHECKED = (1, 2, 7, 17, 33)  # drawn from for the small sizes
PASS = 200_000_000  # operations of all calls of a pass: some milliseconds of an original that the compiler vectorises
ROOM = 190_000_000  # bytes of the arrays of all calls, which a problem bounds too


@final
@dataclass(frozen=True, slots=True)
class Nest:
    """A kernel: its arguments, its body, the timed size, and its work."""

    arguments: tuple[str, ...]
    body: str
    timed: Mapping[str, int]
    flop: str

    @property
    def size(self) -> int:
        """Bytes of the arrays of a call."""
        extents = [one.partition("[")[2].rstrip("]") for one in self.arguments if "[" in one]
        return sum(8 * value_of(extent, self.timed) for extent in extents)


def written(folder: Path, count: int, seed: int = 0) -> list[Path]:
    """The folders of ``count`` nests, the kinds in turn; the same seed gives the same nests."""
    draw = Random(seed)
    return [_folder(folder / f"nest{number:02}", KINDS[number % len(KINDS)](draw), draw) for number in range(count)]


def _folder(folder: Path, nest: Nest, draw: Random) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    name = folder.name
    signature = f"void {name}({', '.join(_parameter(one) for one in nest.arguments)})"
    checked = [{size: draw.choice(CHECKED) for size in nest.timed} for _ in range(3)]
    table = {
        "kind": "function",
        "source": f"{name}.c",
        "flags": list(FLAGS),
        "statement": "A generated loop nest of doubles.",
        "function": {
            "name": name,
            "header": f"{name}.h",
            "arguments": list(nest.arguments),
            "timed": [dict(nest.timed)],
            "checked": [dict.fromkeys(nest.timed, 3), *checked],
            "flop": nest.flop,
            "calls": min(-(-PASS // value_of(nest.flop, nest.timed)), ROOM // nest.size),
        },
    }
    (folder / f"{name}.h").write_text(f"{signature};\n")
    (folder / f"{name}.c").write_text(f'#include "{name}.h"\n\n{signature} {{\n{nest.body}}}\n')
    (folder / "problem.toml").write_text(tomli_w.dumps(table))
    return folder


def _parameter(argument: str) -> str:
    """An argument of problem.toml as C has it: ``const double A[n*m]`` -> ``const double *A``."""
    kind, _, rest = argument.removeprefix("inout ").rpartition(" ")
    name, bracket, _ = rest.partition("[")
    return f"{kind} *{name}" if bracket else f"{kind} {name}"


def _loops(heads: Sequence[str], statement: str) -> str:
    lines = ["    " * (depth + 1) + head for depth, head in enumerate(heads)]
    return "\n".join([*lines, "    " * (len(heads) + 1) + statement]) + "\n"


def _head(var: str, high: str, low: str = "0") -> str:
    return f"for (int {var} = {low}; {var} < {high}; {var}++)"


def _shuffled(draw: Random, heads: Sequence[str]) -> list[str]:
    return draw.sample(heads, len(heads))


def _at(draw: Random, array: str, row: tuple[str, str], column: tuple[str, str]) -> tuple[str, str]:
    """An element (array, its variables) that is stored by rows or by columns: its text and its argument."""
    (i, n), (j, m) = (row, column) if draw.random() < 0.5 else (column, row)
    return f"{array}[{i} * {m} + {j}]", f"const double {array}[{n}*{m}]"


# ----------------------------------------------------------------------------------------------------------- the kinds


def product(draw: Random) -> Nest:
    """A matrix product, its operands transposed or not, with a scalar sum or onto cleared memory in any order."""
    left, first = _at(draw, "L", ("i", "n"), ("k", "q"))
    right, second = _at(draw, "R", ("k", "q"), ("j", "m"))
    if draw.random() < 0.5:
        heads = _shuffled(draw, [_head("i", "n"), _head("j", "m")])
        summed = f"{{ double s = 0.0; {_head('k', 'q')} s += {left} * {right}; T[i * m + j] = s; }}"
        body = _loops(heads, summed)
    else:
        body = _loops([_head("i", "n"), _head("j", "m")], "T[i * m + j] = 0.0;")
        heads = _shuffled(draw, [_head("i", "n"), _head("j", "m"), _head("k", "q")])
        body += _loops(heads, f"T[i * m + j] += {left} * {right};")
    sizes = {name: draw.choice((72, 96, 128, 160)) for name in ("n", "m", "q")}
    return Nest(("int n", "int m", "int q", first, second, "double T[n*m]"), body, sizes, "2*n*m*q")


def matvec(draw: Random) -> Nest:
    """A matrix by a vector, along its rows or across them, cleared before."""
    element, argument = _at(draw, "M", ("i", "n"), ("j", "m"))
    body = _loops([_head("i", "n")], "w[i] = 0.0;")
    body += _loops(_shuffled(draw, [_head("i", "n"), _head("j", "m")]), f"w[i] += {element} * v[j];")
    sizes = {"n": draw.choice((300, 400)), "m": draw.choice((350, 500))}
    return Nest(("int n", "int m", argument, "const double v[m]", "double w[n]"), body, sizes, "2*n*m")


def sweep(draw: Random) -> Nest:
    """One sweep of a stencil over a plane, along its rows or across them."""
    near = [(0, 1), (0, -1), (1, 0), (-1, 0)] + ([(1, 1), (-1, -1)] if draw.random() < 0.5 else [])
    terms = " + ".join(f"G[(i + {a}) * n + j + {b}]" for a, b in [(0, 0), *near])
    heads = _shuffled(draw, [_head("i", "n - 1", "1"), _head("j", "n - 1", "1")])
    body = _loops(heads, f"H[i * n + j] = 0.125 * ({terms});")
    sizes = {"n": draw.choice((300, 500))}
    return Nest(("int n", "const double G[n*n]", "inout double H[n*n]"), body, sizes, f"{len(near) + 1}*n*n")


def steps(draw: Random) -> Nest:
    """Steps of time of a stencil between two planes."""
    heads = _shuffled(draw, [_head("i", "n - 1", "1"), _head("j", "n - 1", "1")])

    def half(target: str, source: str) -> str:
        around = ("i * n + j", "(i - 1) * n + j", "(i + 1) * n + j", "i * n + j - 1", "i * n + j + 1")
        return _loops(heads, f"{target}[i * n + j] = 0.2 * ({' + '.join(f'{source}[{one}]' for one in around)});")

    body = f"    {_head('t', 'q')} {{\n{half('Q', 'P')}{half('P', 'Q')}    }}\n"
    sizes = {"n": draw.choice((80, 120)), "q": draw.choice((6, 10))}
    return Nest(("int n", "int q", "inout double P[n*n]", "inout double Q[n*n]"), body, sizes, "10*n*n*q")


def triangle(draw: Random) -> Nest:
    """A triangular matrix by a full one."""
    right, argument = _at(draw, "R", ("k", "n"), ("j", "m"))
    body = _loops([_head("i", "n"), _head("j", "m")], "T[i * m + j] = 0.0;")
    middle = _shuffled(draw, [_head("j", "m"), _head("k", "i + 1")])
    body += _loops([_head("i", "n"), *middle], f"T[i * m + j] += L[i * n + k] * {right};")
    sizes = {"n": draw.choice((96, 128, 160)), "m": draw.choice((96, 128))}
    return Nest(("int n", "int m", "const double L[n*n]", argument, "double T[n*m]"), body, sizes, "n*n*m")


def entries(draw: Random) -> Nest:
    """A sum of matrices and an outer product, entry by entry."""
    one, first = _at(draw, "X", ("i", "n"), ("j", "m"))
    other, second = _at(draw, "Y", ("i", "n"), ("j", "m"))
    heads = _shuffled(draw, [_head("i", "n"), _head("j", "m")])
    body = _loops(heads, f"Z[i * m + j] = 1.5 * {one} + {other} + u[i] * v[j];")
    arguments = ("int n", "int m", first, second, "const double u[n]", "const double v[m]", "double Z[n*m]")
    return Nest(arguments, body, {"n": draw.choice((300, 400)), "m": draw.choice((300, 500))}, "5*n*m")


def moments(draw: Random) -> Nest:
    """Products of the columns, or rows, of one matrix with one another."""
    by_row = draw.random() < 0.5
    left, right = ("D[i * q + k]", "D[j * q + k]") if by_row else ("D[k * n + i]", "D[k * n + j]")
    summed = f"{{ double s = 0.0; {_head('k', 'q')} s += {left} * {right}; V[i * n + j] = s / q; }}"
    body = _loops(_shuffled(draw, [_head("i", "n"), _head("j", "n")]), summed)
    sizes = {"n": draw.choice((72, 96, 128)), "q": draw.choice((96, 160))}
    return Nest(("int n", "int q", "const double D[n*q]", "double V[n*n]"), body, sizes, "2*n*n*q")


def norms(draw: Random) -> Nest:
    """Every column, or row, of a matrix over the sum of its squares."""
    element, argument = _at(draw, "X", ("i", "n"), ("j", "m"))
    body = (
        f"    {_head('j', 'm')} {{\n        double s = 1.0;\n        {_head('i', 'n')} s += {element} * {element};\n"
        f"        {_head('i', 'n')} Y[i * m + j] = {element} / s;\n    }}\n"
    )
    sizes = {"n": draw.choice((300, 400)), "m": draw.choice((300, 400))}
    return Nest(("int n", "int m", argument, "double Y[n*m]"), body, sizes, "3*n*m")


KINDS: tuple[Callable[[Random], Nest], ...] = (product, matvec, sweep, steps, triangle, entries, moments, norms)
