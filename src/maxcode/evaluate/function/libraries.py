"""The libraries that a function may not use, by their names in its text."""

from __future__ import annotations

import re

from maxcode.code.source import without_comments
from maxcode.core.types import Program

_PLAIN = r"[^;{}()]"
_ARGUMENTS = rf"\((?:{_PLAIN}|\((?:{_PLAIN}|\({_PLAIN}*+\))*+\))*+\)"  # such as pointers to arrays
_AFTER = rf"(?:\s*(?:(?:noexcept|__attribute__)\b(?:\s*{_ARGUMENTS})?|(?:const|override|final)\b))*+"
_DEFINED = re.compile(rf"\b(\w+)\s*{_ARGUMENTS}{_AFTER}\s*(\{{)?")  # functions, if a body follows
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_FORBIDDEN = (
    (re.compile(r"\b(?:cblas_\w+|\w*(?:gemm|gemv|trsm|syrk)_\b|mkl_\w+|openblas\w*|armpl_\w+)"), "a BLAS"),
    (re.compile(r"\b(?:dlopen|dlmopen|dlsym|__libc_dlopen\w*)\b"), "loading of libraries"),
    (re.compile(r"#[ \t]*include[ \t]*[<\"](?:cblas|mkl|openblas|lapack|blis|dlfcn|armpl)\w*"), "a library's header"),
)


def forbidden(program: Program, name: str = "") -> str | None:
    """What a candidate may not use, with where; None when it uses nothing of it. ``name`` is its function's, which may
    be that of a library's, as may those that it defines itself.

    Says it early and clearly.  What enforces it is the sandbox: no library but the compiler's runtime is there.
    """
    for path, text in program.files.items():
        code = without_comments(text)
        own = {name, *_MACRO.findall(code), *(one[1] for one in _DEFINED.finditer(code) if one[2])}
        for pattern, what in _FORBIDDEN:
            found = (one for one in pattern.finditer(code) if one[0] not in own)
            if (match := next(found, None)) is not None:
                line = code.count("\n", 0, match.start()) + 1
                return f"{path}, line {line}: {match[0].strip()} is {what}, which this problem forbids"
    return None
