"""PolyBench's own text of a kernel as a candidate of the suite ``polybench``.

The suite gives a kernel pointers and ``A[i * n + j]``, which tools for affine subscripts cannot read.  Here the text of
the kernel stays as it is: arrays of several dimensions whose sizes are constants, as PolyBench declares them, between
``#pragma scop`` and ``#pragma endscop``.  A candidate must be right at every size, so the text is there twice: with the
constants of the timed size, and with dimensions that are arguments for any other size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from maxcode.core.types import Problem
from maxcode.problems.polybench_text import Header, Kernel, read_header, read_kernel

_ABOVE = re.compile(r"^(?:typedef\b.*;|#[ \t]*define[ \t]+\w+\(.*)$", re.MULTILINE)
_SCOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:end)?scop[ \t]*\n", re.MULTILINE)
_RANKS = {1: "ax", 2: "abxy", 3: "abcxyz"}  # the constants, and the arguments, that POLYBENCH_nD is given


def own_text(problem: Problem, source: Path) -> str:
    """The candidate's text, from the kernel's file in PolyBench/C."""
    name, spec = source.stem, problem.spec.function_spec
    text = source.read_text(errors="replace").replace("\r\n", "\n")
    header = read_header(name, source.with_suffix(".h").read_text(errors="replace"))
    kernel = read_kernel(name, text, header)
    sizes = dict(zip((one.name for one in spec.scalars), spec.timed[0], strict=True))
    found = re.search(rf"^void\s+{kernel.function}\b.*?^\}}", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit(f"{source} does not define {kernel.function} as PolyBench/C 4.2.1 does")
    above = "\n".join(_ABOVE.findall(text[: found.start()]))
    constant, variable = _renamed(found[0], kernel, "fixed"), _SCOP.sub("", _renamed(found[0], kernel, "any"))
    values = {macro: str(sizes[one]) for macro, one in header.variables.items() if one in sizes}
    parts = [
        f'#include "{spec.header_name}"\n#include <math.h>\n',
        _macros(header),
        above,
        _version(constant, {**header.variables, **values}, constant_arrays=True),
        _version(variable, header.variables, constant_arrays=False),
        _entry(kernel, sizes),
    ]
    return "\n".join(part for part in parts if part)


def _renamed(text: str, kernel: Kernel, word: str) -> str:
    return "static " + text.replace(kernel.function, f"{word}_{kernel.function}", 1) + "\n"


def _macros(header: Header) -> str:
    """PolyBench's macros that are the same in both versions."""
    suffix = "f" if header.ctype == "float" else ""
    literal = "x##f" if suffix else "x"
    lines = [f"#define DATA_TYPE {header.ctype}", f"#define SCALAR_VAL(x) {literal}"]
    lines += [f"#define {name}_FUN(x) {name.lower()}{suffix}(x)" for name in ("SQRT", "EXP")]
    lines += [f"#define POW_FUN(x, y) pow{suffix}(x, y)"]
    lines += [f"#define _PB_{macro} {variable}" for macro, variable in header.variables.items()]
    return "\n".join(lines) + "\n"


def _version(text: str, sizes: Mapping[str, str], constant_arrays: bool) -> str:
    """One version of the kernel, with what its sizes and its arrays mean there."""
    known = {macro: f"#define {macro} {size}" for macro, size in sizes.items()}
    for rank, names in _RANKS.items():
        first, *others = list(names[:rank] if constant_arrays else names[rank:])
        subscripts = f"[restrict {first}]" + "".join(f"[{one}]" for one in others)
        known[f"POLYBENCH_{rank}D"] = f"#define POLYBENCH_{rank}D(v, {', '.join(names)}) v{subscripts}"
    undone = "".join(f"#undef {macro}\n" for macro in known)
    return "\n".join(known.values()) + f"\n{text}{undone}"


def _entry(kernel: Kernel, sizes: Mapping[str, int]) -> str:
    """The function that the harness calls."""
    unpacked = "".join(one.unpacked for one in kernel.parameters)
    arrays = {one.name: f"(void *){one.name}" for one in kernel.parameters if one.extents and not one.given}
    names = [one.name for one in kernel.parameters]
    test = " && ".join(f"{name} == {size}" for name, size in sizes.items())
    fixed = ", ".join(arrays.get(name, str(sizes.get(name, name))) for name in names)
    other = ", ".join(arrays.get(name, name) for name in names)
    return (
        f"void {kernel.function}({', '.join(one.declared for one in kernel.parameters)}) {{\n{unpacked}"
        f"    if ({test})\n        fixed_{kernel.function}({fixed});\n"
        f"    else\n        any_{kernel.function}({other});\n}}\n"
    )
