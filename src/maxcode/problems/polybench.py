"""The suite ``polybench``: the kernels of PolyBench/C 4.2.1, as functions.

    polybench:gemm   polybench:gemm/LARGE   polybench:all   polybench:all/SMALL

``$MAXCODE_POLYBENCH`` is the folder of PolyBench/C, which has each kernel in a NAME/NAME.c with NAME.h.  The size
sets are its own (MINI, SMALL, MEDIUM, LARGE, EXTRALARGE).  The default is MEDIUM, because a search runs a kernel
thousands of times.  A kernel is verified at small odd sizes too.

Inputs are fresh and random for every call.  Those of ``init_array`` are not used: they are always the same, and results
could be stored.  The properties that a kernel needs of its inputs, and its work, are our own data
(``polybench.toml``), so a kernel that is not in PolyBench/C 4.2.1 is refused.  ``polybench_text.py`` extracts a kernel.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.code.expressions import value_of
from maxcode.core.files import read_file, read_toml
from maxcode.core.types import Program
from maxcode.errors import InputError, unknown
from maxcode.problems.cases import natural
from maxcode.problems.polybench_text import Header, Kernel, read_header, read_kernel
from maxcode.problems.suite import Given, LeftOut, Listing, Origin, Source, folder_of, sha256

POLYBENCH = "polybench"
PREFIX = POLYBENCH + ":"
VARIABLE = "MAXCODE_POLYBENCH"
USUAL, ALL = "MEDIUM", "all"
FLAGS = ("-std=gnu17", "-O3", "-march=native")
OURS = Path(__file__).parent / "polybench.toml"
TOLERANCES = {"double": 1e-9, "float": 1e-5, "int": 1e-9}
_PASS = 60_000_000  # steps of all calls of a pass: some milliseconds of work, at 10 or 20 a nanosecond too
_MOVED = 128 << 20  # bytes of the arrays of a pass: some milliseconds too, and making them takes longer than the calls
_ROUNDS, _SLOTS = 8, 512  # at most
_BYTES = 1 << 28  # of all arrays of a pass, as in function_table.py
_STEPS_A_SECOND = 2e8  # of a slow kernel; gives its limit
_HOW = (
    f"get PolyBench/C 4.2.1 from https://sourceforge.net/projects/polybench and set {VARIABLE} to its folder, which "
    "contains the kernels, such as linear-algebra/blas/gemm/gemm.c and gemm.h"
)


@final
@dataclass(frozen=True, slots=True)
class KernelEntry:
    """Our data about a kernel; the keys of ``polybench.toml``."""

    flop: str = "0"
    ops: str = ""
    inputs: str = ""
    swap: tuple[str, ...] = ()
    note: str = ""


@final
class Polybench:
    def listing(self, words: str) -> Listing:
        """One kernel, or all of them in the order of their names; unusable ones are left out, with the reason."""
        name, size = _asked(words)
        files = _files(_place())
        wanted = sorted(files, key=natural) if name == ALL else [name]
        found = Listing()
        for one in wanted:
            full = f"{PREFIX}{one}/{size}"
            try:
                _given(files, one, size)
            except InputError as error:
                if name != ALL:
                    raise
                found += Listing(left_out=(LeftOut(full, str(files[one]), str(error)),))
            else:
                found += Listing((Source(Path(full)),))
        return found

    def given(self, words: str) -> Given:
        """The kernel of that name, at the sizes of a set."""
        name, size = _asked(words)
        if name == ALL:
            raise InputError(f"{PREFIX}{words} stands for several kernels; name one of them, e.g. {PREFIX}gemm/{size}")
        return _given(_files(_place()), name, size)


def _asked(words: str) -> tuple[str, str]:
    """Kernel and size set."""
    name, _, size = words.partition("/")
    return name or ALL, size.upper() or USUAL


def _place() -> Path:
    return folder_of(VARIABLE, "PolyBench/C", _HOW)


def _files(place: Path) -> dict[str, Path]:
    """The kernels' files by name."""
    found = {path.stem: path for path in sorted(place.glob("**/*.c")) if path.stem == path.parent.name}
    found = {name: path for name, path in found.items() if path.with_suffix(".h").is_file()}
    if not found:
        raise InputError(f"{place} has no kernels NAME/NAME.c with NAME.h; {_HOW}")
    return found


def _given(files: Mapping[str, Path], name: str, size: str) -> Given:
    if name not in files:
        raise unknown("kernel of PolyBench/C:", name, files)
    text = _text(files[name])
    known = _known(name)
    header = read_header(name, _text(files[name].with_suffix(".h")))
    kernel = read_kernel(name, text, header)
    given = _function(name, size, header, kernel, known)
    origin = Origin(POLYBENCH, name, f"{POLYBENCH}-{name}-{size.lower()}", sha256(text), {"size": size})
    table = {
        "kind": "function",
        "source": f"{name}.c",
        "flags": list(FLAGS),
        "statement": f"The kernel {name} of PolyBench/C. Arrays are row-major; arrays called scratch in the list of "
        "arguments may hold anything when it returns.\n" + ", ".join(given["arguments"]),
        "limits": {"run_s": _limit(given, known)},
        "function": given,
    }
    texts = {f"{name}.h": kernel.header, "inputs.c": _inputs(kernel, known)}
    notes = (known.note,) if known.note else ()
    return Given(origin, table, Program({f"{name}.c": kernel.source}), texts=texts, notes=notes)


def _known(name: str) -> KernelEntry:
    table = read_toml(OURS)
    if name not in table:
        raise InputError(
            f"{name} is not a kernel of PolyBench/C 4.2.1, so its work and its inputs are unknown; write a "
            'problem.toml of kind = "function" for it (docs/how-to/functions.md)'
        )
    return msgspec.convert(table[name], KernelEntry)


def _text(path: Path) -> str:
    return read_file(path).decode(errors="replace")


# ------------------------------------------------------------------------------------------------------------- table


def _function(name: str, size: str, header: Header, kernel: Kernel, known: KernelEntry) -> dict[str, Any]:
    """The table ``[function]``."""
    if size not in header.sizes:
        raise unknown(f"size set of {name}:", size, header.sizes)
    timed = _sizes(name, header, kernel, header.sizes[size], known)
    arrays = [one for one in kernel.parameters if one.extents]
    held = sum(_width(one.ctype) * math.prod(timed[extent] for extent in one.extents) for one in arrays)
    if held > _BYTES:
        raise InputError(
            f"{name}/{size}: its arrays hold {held >> 20} MB, the limit is {_BYTES >> 20} MB; choose a smaller size set"
        )
    calls, slots = _calls(value_of(known.ops or known.flop, timed), held)
    least = min(header.sizes.values(), key=lambda sizes: math.prod(sizes.values()))
    return {
        "name": kernel.function,
        "header": f"{name}.h",
        "arguments": [one.argument for one in kernel.parameters],
        "timed": [timed],
        "checked": _checked(_sizes(name, header, kernel, least, known), known),
        "flop": known.flop,
        "inputs": "inputs.c" if known.inputs else "",
        "calls": calls,
        "slots": slots,
        "tolerance": TOLERANCES[header.ctype],
    }


def _sizes(name: str, header: Header, kernel: Kernel, given: Mapping[str, int], known: KernelEntry) -> dict[str, int]:
    """A value for each number among the kernel's parameters."""
    by_variable = {variable: given[macro] for macro, variable in header.variables.items() if macro in given}
    scalars = [one.name for one in kernel.parameters if one.ctype == "int" and not one.extents]
    if missing := [one for one in scalars if one not in by_variable]:
        raise InputError(f"{name}.h gives no size to the parameter {missing[0]} of {kernel.function}")
    if len(known.swap) == 2 and set(known.swap) <= by_variable.keys():
        one, other = known.swap
        by_variable[one], by_variable[other] = by_variable[other], by_variable[one]
    return {one: by_variable[one] for one in scalars}


def _checked(least: Mapping[str, int], known: KernelEntry) -> list[dict[str, int]]:
    """Four sizes around those of the smallest set, with different divisors.  If two sizes must keep an order, they keep
    it at every size that can be drawn between these."""
    if known.swap:
        large, small = known.swap
        return [{large: least[large] + 3 * step, small: max(3, least[small] - 5 * step)} for step in range(4)]
    shares = ((1, 4), (2, 3), (1, 1), (3, 2))
    return [
        {
            name: max(3, value * share[0] // share[1]) | ((at + step) & 1)
            for at, (name, value) in enumerate(least.items())
        }
        for step, share in enumerate(shares)
    ]


def _calls(steps: int, held: int) -> tuple[int, int]:
    """Rounds of a pass, and calls of a round: enough work to time, within the memory."""
    held = max(1, held)
    wanted = max(2, min(math.ceil(_PASS / max(1, steps)), _MOVED // held))
    wanted = max(1, min(wanted, _BYTES // held))
    slots = min(_SLOTS, math.ceil(wanted / _ROUNDS))
    return max(1, min(_ROUNDS, wanted // slots)), slots


def _limit(given: Mapping[str, Any], known: KernelEntry) -> float:
    """CPU seconds of a pass: ten, or more for a slow kernel."""
    steps = value_of(known.ops or known.flop, given["timed"][0]) * given["calls"] * given["slots"]
    return float(max(10, math.ceil(steps / _STEPS_A_SECOND)))


def _width(ctype: str) -> int:
    return 8 if ctype == "double" else 4


def _inputs(kernel: Kernel, known: KernelEntry) -> str:
    """C code that turns uniform values into the inputs of the kernel; InputError if a parameter of 4.2.1 is missing."""
    names = {one.given or one.name for one in kernel.parameters} | {"i", "j", "for", "int", "f"}
    if others := [word for word in re.findall(r"\b[A-Za-z_]\w*", known.inputs) if word not in names]:
        raise InputError(f"{kernel.function} has no parameter {others[0]}, which that of PolyBench/C 4.2.1 has")
    declared = ", ".join(one.declared.replace("const ", "") for one in kernel.parameters)
    return f"void inputs(unsigned long seed, {declared}) {{\n(void)seed;\n{known.inputs.strip()}\n}}\n"
