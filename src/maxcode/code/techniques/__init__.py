"""Finds the optimisation techniques that a C or C++ kernel uses, for Staged Quality-Diversity.

A stage permits some techniques; ``forbidden`` finds the others in a program.  ``cell`` is the behaviour descriptor of a
program in the archive.  The paper (arXiv 2602.12049) publishes neither its list nor its detector: both are ours.
Macros are expanded first (``preprocess.py``).  Names show some techniques (``keywords.py``); the shape of loops and
copies shows the others (``loop_nests.py``, ``packing.py``).

This reads the text; it is no proof.  In doubt it reports a technique: code that it cannot follow (a macro with two
meanings, a loop made of jumps, a text that the grammar cannot parse) is reported as "hidden".  It does not see what the
compiler does by itself at the problem's flags; macros of headers (``-D`` and included files; read every file of a
program); a loop order computed from tables or bits; machine code in data; steps that are known only at run time and
look like a size of the problem.  It cannot distinguish unrolling from interleaved data (x, y, x, y, ...).  So always
permit the techniques of the original of a problem.  A text that does not compile may count as hidden, so build first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import final

from maxcode.code.languages import language as language_row
from maxcode.code.techniques.inner import Inner as Inner
from maxcode.code.techniques.inner import inner
from maxcode.code.techniques.keywords import Found, named
from maxcode.code.techniques.loop_nests import nested
from maxcode.code.techniques.packing import packed
from maxcode.code.techniques.preprocess import Expanded, expand
from maxcode.code.techniques.syntax import Unit
from maxcode.errors import unknown

_PHRASES = {
    "threads": "OpenMP, pthreads, std::thread or other processes",
    "simd": "vector intrinsics, vector types, `omp simd` or `ivdep`",
    "tiling": "loops in blocks, so that data stay in a cache",
    "unrolling": "loop bodies repeated for neighbours, register blocks, unroll pragmas",
    "packing": "parts of an input copied into a contiguous buffer",
    "restrict": "pointers declared not to overlap",
    "pragmas": "optimisation pragmas, attributes and hints to the compiler",
    "prefetch": "explicit prefetching",
    "assembly": "inline assembly or machine code",
    "libraries": "code from elsewhere: BLAS, dlopen, system calls",
    "hidden": "code that cannot be followed: macros with two meanings, loops made of jumps",
}
TECHNIQUES = tuple(_PHRASES)
_SIZED = {"tiling": "tile", "unrolling": "unroll", "simd": "vector"}
_SNIPPET = 80
_LONG = 40_000  # characters of the longest kernel that is read; the worst such texts take 10 s or so
# Only C++ grammars know it.
_ATTRIBUTE = re.compile(r"\[ \[ [a-z_]\w* (?:::|\(|,|\] \])[^;{}\n]{0,400}?(?:\] \]|(?<=\] \]))")
_C_FAMILY = ("c", "cpp")


@final
@dataclass(frozen=True, slots=True)
class Use:
    """A use of a technique at a line (1-based) of the text; ``what``: that line, cut to 80 characters."""

    technique: str
    line: int
    what: str


def reads(language: str) -> bool:
    """Whether techniques are found in texts of a language."""
    return language_row(language).grammar in _C_FAMILY


def find(language: str, text: str) -> tuple[Use, ...]:
    """Every use of a technique, in the order of lines, one for each technique and line; none for languages other than
    C and C++."""
    lines = text.split("\n")
    spots = sorted({(found.line, found.technique) for found in _found(language, text)})
    return tuple(Use(name, line, _snippet(lines, line)) for line, name in spots)


def used(language: str, text: str) -> frozenset[str]:
    """The techniques that a text uses."""
    return frozenset(found.technique for found in _found(language, text))


def forbidden(language: str, text: str, permitted: frozenset[str]) -> tuple[Use, ...]:
    """The uses of techniques outside ``permitted``; InputError if ``permitted`` has an unknown name."""
    for name in sorted(permitted - set(TECHNIQUES)):
        raise unknown("technique", name, TECHNIQUES)
    return tuple(use for use in find(language, text) if use.technique not in permitted)


def describe(technique: str) -> str:
    """A technique in words for a prompt: "threads: OpenMP, ..."; InputError for an unknown name."""
    if technique not in _PHRASES:
        raise unknown("technique", technique, TECHNIQUES)
    return f"{technique}: {_PHRASES[technique]}"


def cell(language: str, text: str) -> tuple[str, ...]:
    """The behaviour descriptor of a text: its techniques, sorted, then the largest tile edge, unroll factor and vector
    width (in doubles), rounded down to a power of two, if the text shows them: ("simd", "tiling", "tile~64",
    "vector~8")."""
    found = _found(language, text)
    largest = {name: max((f.size for f in found if f.technique == name), default=0) for name in _SIZED}
    sizes = [f"{_SIZED[name]}~{1 << size.bit_length() - 1}" for name, size in largest.items() if size > 1]
    return (*sorted({f.technique for f in found}), *sizes)


def innermost(language: str, text: str) -> Inner:
    """The innermost loop of a text; all zero for languages other than C and C++, and for texts that are too long."""
    if not reads(language) or len(text) > _LONG:
        return Inner()
    return inner(_read(language, text)[1])


@lru_cache(maxsize=512)
def _found(language: str, text: str) -> tuple[Found, ...]:
    """The uses in a text, cached because several functions need them."""
    if not reads(language):
        return ()
    if len(text) > _LONG:
        return (Found(1, "hidden"),)
    expanded, unit = _read(language, text)
    found = [*named(expanded, language == "cpp"), *nested(unit), *packed(unit)]
    if (line := unit.unread) is not None:
        found.append(Found(line, "hidden"))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=8)
def _read(language: str, text: str) -> tuple[Expanded, Unit]:
    expanded = expand(text)
    return expanded, Unit(language, _ATTRIBUTE.sub(" ", expanded.text))


def _snippet(lines: list[str], line: int) -> str:
    return lines[line - 1].strip()[:_SNIPPET] if line <= len(lines) else ""
