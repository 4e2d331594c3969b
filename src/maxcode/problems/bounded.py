"""Which problems can be counted in instructions, and the machine flags of a build that valgrind can run.

valgrind translates a program and stops at instructions that it does not know: AVX-512 and later ones.  The same limit
on every x86-64 machine, with AVX-512 or not, also makes counts comparable between machines.
"""

from __future__ import annotations

import platform
import re

from maxcode.code.languages import Language
from maxcode.core.types import KINDS
from maxcode.errors import InputError
from maxcode.problems.description import Description

MARCH = "-march=x86-64-v3"
_UNKNOWN = re.compile(r"-mno-evex512|-m(avx512|avx10|amx|evex|apx|prefer-vector-width).*")
_KNOWN = re.compile(
    r"-march=(x86-64(-v[23])?|core2|nehalem|westmere|sandybridge|ivybridge|haswell|broadwell|skylake|znver[123])"
)


def bounded(found: Description, tongue: Language, flags: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags to build with, and a note if they differ from the given ones.

    InputError if the goal or the tie-break is a count of instructions and the problem cannot be counted.
    """
    if found.goal != "instructions" and not found.tie_break:
        return flags, ()
    what = 'goal = "instructions"' if found.goal == "instructions" else 'tie_break = "instructions"'
    if not tongue.native:
        raise InputError(
            f"{what}: a program in {tongue.name} is not compiled, so the count would be of the instructions of "
            "its interpreter; use the goal cpu, without a tie-break"
        )
    if why := KINDS[found.kind].uncountable:
        raise InputError(f"{what}: {why}; use the goal cpu or wall, without a tie-break")
    if found.goal != "instructions" or platform.machine() != "x86_64":
        return flags, ()  # a tie-break must not slow down what is timed
    kept = tuple(_bounded(flag) for flag in flags if not _UNKNOWN.fullmatch(flag))
    if kept == flags:
        return flags, ()
    return kept, (f"built with `{' '.join(kept)}`, not with `{' '.join(flags)}`: {_WHY}",)


_WHY = "valgrind, which counts instructions, does not support AVX-512 or later"


def _bounded(flag: str) -> str:
    return MARCH if flag.startswith("-march=") and not _KNOWN.fullmatch(flag) else flag
