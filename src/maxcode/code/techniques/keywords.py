"""Finds techniques by names: intrinsics, library calls, keywords, attributes, pragmas, headers.

An attribute or a pragma that is not in the lists of harmless ones counts as "pragmas".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from maxcode.code.techniques.integer_constants import constant
from maxcode.code.techniques.preprocess import Expanded, Piece


class Found(NamedTuple):
    """A technique at a line (1-based), with its size: vector lanes, unroll factor or tile edge; 0 if unknown."""

    line: int
    technique: str
    size: int = 0


DOUBLE = 8  # bytes; lanes are counted in doubles

_NAMES = {
    "prefetch": r"__builtin_prefetch|_mm_prefetch|_m_prefetchw?|__builtin_ia32_prefetch\w*",
    "simd": r"_mm(?!_malloc|_free|_pause)\d*_\w+|_m_\w+|_tile_\w+|__m\d+[a-z]*|__mmask\d+|__v\d+[a-z]+"
    r"|__builtin_ia32_\w+|__builtin_(?:shuffle\w*|convertvector)|_{0,2}vector_size_{0,2}|ext_vector_type|V\d+[QHSDT][IFC]"
    r"|(?:float|int|uint|poly)\d+x\d+(?:x\d)?_t|v\w+_[fsup]\d+|sv\w+_[fsu]\d+\w*|native_simd|fixed_size_simd"
    r"|_Simd|__vector",
    "threads": r"pthread_\w+|__?pthread_\w+|thrd_\w+|omp_\w+|GOMP_\w+|__kmpc_\w+|_?[Cc]ilk_\w+|tbb|__gnu_parallel"
    r"|_GLIBCXX_PARALLEL|v?fork|_Fork|__clone2?|clone3?|posix_spawnp?|dispatch_apply|__libc_fork",
    "restrict": r"restrict|__restrict|__restrict__",
    "assembly": r"asm|__asm|__asm__|PROT_EXEC|mprotect|__builtin___clear_cache",
    "libraries": r"dl(?:m?open|v?sym)|cblas_\w+|[sdcz](?:gemm|trsm|symm|syrk|trmm|gemv)_|mkl_\w+|openblas_\w+"
    r"|LAPACKE_\w+|p?system|popen|exec[vl]p?e?|fexecve|execveat|mmap(?:64)?|memfd_create|syscall|__syscall",
    "pragmas": r"__builtin_(?:assume_aligned|assume|unreachable|assoc_barrier)",
    "hidden": r"__COUNTER__|__LINE__|__INCLUDE_LEVEL__|__VA_OPT__|__has_include|__has_embed|__TIME__|__DATE__",
}
_BY_NAME = {technique: re.compile(pattern) for technique, pattern in _NAMES.items()}
_CPP_THREADS = re.compile(r"j?thread|async|packaged_task|execution|par|par_unseq|unseq")
_SUSPECT = re.compile(r"[_A-Za-z]\w*")
_WIDTHS = (("512", 8), ("256", 4))

_HEADERS = {
    "simd": r"\w*(?:mmintrin|x86intrin|immintrin|x86gprintrin|arm_\w+|altivec|avx\w*)\.h|(?:experimental/)?simd",
    "threads": r"omp\.h|pthread\.h|threads\.h|thread|future|execution|tbb/.*|cilk/.*|parallel/.*|sched\.h|spawn\.h",
    "libraries": r"c?blas\w*\.h|mkl\w*\.h|lapacke?\.h|dlfcn\.h|sys/(?:mman|syscall|wait|ipc|shm)\.h|Eigen/.*|fftw3\.h",
}
_BY_HEADER = {technique: re.compile(rf"(?:.*/)?(?:{pattern})") for technique, pattern in _HEADERS.items()}
_HEADER = re.compile(r'<\s*(\S+?)\s*>|"([^"]+)"')

_HARMLESS = re.compile(
    r"_{0,2}(?:(?:maybe_)?unused|used|nodiscard|noreturn|noinline|always_inline|gnu_inline|cold|hot|pure|const|nonnull"
    r"|nothrow|leaf|aligned|packed|format|deprecated|fallthrough|malloc|warn_unused_result|visibility|may_alias"
    r"|returns_nonnull|alloc_size|gnu|vector_size|access|unlikely|likely)_{0,2}"
)
_OPTIONS = {
    "threads": r"parallelize|openmp|openacc",
    "unrolling": r"unroll|peel",
    "tiling": r"loop-block|strip-mine|loop-nest-optimize|graphite|unroll-and-jam",
    "prefetch": r"prefetch",
}
_QUIET = re.compile(
    r"once$|GCC (?:diagnostic|warning|error|system_header|poison|visibility)|message|STDC FP_CONTRACT OFF"
)


_LONGEST = 64  # pieces of an attribute that are read


def named(expanded: Expanded, cpp: bool) -> Iterator[Found]:
    """The techniques that names, attributes, pragmas and headers show."""
    yield from _words(expanded.pieces, cpp)
    yield from _attributes(expanded.pieces)
    for line, text in expanded.pragmas:
        yield from (Found(line, technique, size) for technique, size in _pragma(text))
    for line, text in expanded.includes:
        yield from (Found(line, technique) for technique in _header(text))
    for line, _ in expanded.obscure:
        yield Found(line, "hidden")


def _words(pieces: Sequence[Piece], cpp: bool) -> Iterator[Found]:
    for at, piece in enumerate(pieces):
        if not _SUSPECT.fullmatch(piece.text) or (at and pieces[at - 1].text in (".", "->")):
            continue
        technique = _technique(piece.text)
        if technique is None and cpp and _CPP_THREADS.fullmatch(piece.text):
            technique = "threads"
        if technique is not None:
            yield Found(piece.line, technique, _lanes(pieces, at) if technique == "simd" else 0)


@lru_cache(maxsize=1 << 12)
def _technique(word: str) -> str | None:
    return next((name for name, pattern in _BY_NAME.items() if pattern.fullmatch(word)), None)


def _lanes(pieces: Sequence[Piece], at: int) -> int:
    """The lanes, in doubles, of the widest vector that a word of "simd" shows."""
    word = pieces[at].text
    if "vector_size" in word:
        return (_bracketed(pieces, at + 1) or 0) // DOUBLE
    if word == "ext_vector_type":
        return _bracketed(pieces, at + 1) or 0
    return next((lanes for mark, lanes in _WIDTHS if mark in word), 2 if word.startswith(("_mm_", "__m128")) else 0)


def _bracketed(pieces: Sequence[Piece], at: int) -> int | None:
    """The constant in the parentheses that open at ``at``; None if there is none."""
    end = _closing(pieces, at)
    inner = [piece.text for piece in pieces[at + 1 : end]]
    return constant(" ".join(inner), {}) if inner and end < at + _LONGEST else None


def _closing(pieces: Sequence[Piece], at: int) -> int:
    """Where what opens at ``at`` closes; if that is too far away, how far was looked."""
    depth, last = 0, min(len(pieces), at + _LONGEST)
    for end in range(at, last):
        depth += (pieces[end].text in "([") - (pieces[end].text in ")]")
        if depth <= 0:
            return end
    return last


# -------------------------------------------------------------------------------------------- attributes and pragmas


def _attributes(pieces: Sequence[Piece]) -> Iterator[Found]:
    for at, piece in enumerate(pieces):
        opened = piece.text in ("__attribute__", "__attribute") or (
            piece.text == "[" and pieces[at + 1 : at + 2] and pieces[at + 1].text == "["
        )
        if not opened:
            continue
        start = at if piece.text == "[" else at + 1
        end = _closing(pieces, start)
        if end == start + _LONGEST:
            yield Found(piece.line, "hidden")
        for technique in _attribute([part.text for part in pieces[start : end + 1]]):
            yield Found(piece.line, technique)


def _attribute(texts: Sequence[str]) -> Iterator[str]:
    depth, is_told = 0, False
    for text in texts:
        depth += (text in "([") - (text in ")]")
        if depth == 2 and _SUSPECT.fullmatch(text) and not _HARMLESS.fullmatch(text):
            name = text.strip("_")
            yield {"simd": "simd", "section": "assembly", "mode": "simd"}.get(name, "pragmas")
            is_told = True
    if is_told:
        yield from _options(" ".join(texts))


def _options(text: str) -> Iterator[str]:
    """The techniques that compiler options in the program text switch on."""
    return (technique for technique, pattern in _OPTIONS.items() if re.search(pattern, text))


def _pragma(text: str) -> Iterator[tuple[str, int]]:
    text = re.sub(r"\s+", " ", text).strip()
    words = text.split(" ")
    size = max((int(number) for number in re.findall(r"\b\d{1,4}\b", text)), default=0)
    if words[0] == "omp":
        yield from ((technique, size if technique == "simd" and "simdlen" in text else 0) for technique in _omp(text))
    elif words[0] in ("acc", "parallel", "omx"):
        yield "threads", 0
    elif "ivdep" in words or words[0] in ("simd", "vector", "ivdep"):
        yield "simd", 0
    elif re.search(r"\b(?:no)?unroll(?:_and_jam)?\b", text) and not text.startswith("GCC optimize"):
        yield "unrolling", size
    elif words[0] in ("prefetch", "noprefetch"):
        yield "prefetch", 0
    elif "push_macro" in text or "pop_macro" in text:
        yield "hidden", 0
    elif not _QUIET.match(text):
        yield "pragmas", 0
        yield from ((technique, 0) for technique in _options(text))


def _omp(text: str) -> Iterator[str]:
    """The techniques of an OpenMP directive, from its words up to the first clause with an argument."""
    head = re.split(r"\w+ ?\(", text, maxsplit=1)[0].split()[1:] or ["parallel"]
    if "simd" in head:
        yield "simd"
    if head[0] in ("tile", "interchange", "reverse"):
        yield "tiling"
    elif head[0] == "unroll":
        yield "unrolling"
    elif "parallel" in head or head[:1] not in (["simd"], ["declare"], ["ordered"], ["scan"]):
        yield "threads"


def _header(text: str) -> Iterator[str]:
    found = _HEADER.match(text)
    name = (found[1] or found[2]) if found else ""
    if not name or (text.startswith('"') and not name.endswith((".h", ".hpp", ".hh"))) or ".." in name:
        yield "hidden"
    for technique, pattern in _BY_HEADER.items():
        if pattern.fullmatch(name):
            yield technique
