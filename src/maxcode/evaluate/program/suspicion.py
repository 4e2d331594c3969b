"""What makes a winner suspicious: a very high speed-up, or words in its code that the original does not use.

Only a speed that no process can reach rejects a program.  Suspicion only triggers a re-check, because such words have
honest uses.  Comments and strings are not code and do not count.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from statistics import median

from maxcode.code.languages import language
from maxcode.code.source import without_comments
from maxcode.core.types import Problem, Program, Timing
from maxcode.evaluate.program.lower_bound import MARGIN

FAR = 10.0  # a speed-up above this triggers a re-check

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(?:include|embed)(?:_next)?[ \t]*([<\"])([^>\"\n]*)[>\"]", re.MULTILINE)
_ATTRIBUTES = re.compile(r"\b(?:__)?(?:section|constructor|destructor|ifunc|alias)(?:__)?\b")
_GIVING_THEM = (re.compile(r"\b__attribute(?:__)?\s*\(\([^;{}]*"), re.compile(r"\[\[[^\]]*"))
_IN_C = (
    (re.compile(r"\b(?:asm|__asm|__asm__)\b"), "inline assembly"),
    (re.compile(r"\b(?:system|popen|execl[pe]?|execv[pe]?|execvpe|fexecve|posix_spawnp?)\s*\("), "starting programs"),
    (re.compile(r"\b(?:fork|vfork|clone3?|syscall|ptrace|dlopen|dlsym|memfd_create)\s*\("), "system calls"),
    (re.compile(r"\b(?:sched_setaffinity|pthread_setaffinity_np|setpriority|nice)\s*\("), "priorities"),
    (re.compile(r"\b(?:has_include|embed)\b"), "looking for files"),
)
_PYTHON_MODULES = frozenset({"ctypes", "subprocess", "socket", "mmap", "gc", "inspect", "importlib", "builtins"})
_PYTHON_CALLS = frozenset({"exec", "eval", "compile", "__import__", "system", "popen", "fork", "execv", "execve"})


def far(timing: Timing) -> tuple[str, ...]:
    """A reason for a re-check if the speed-up is above FAR."""
    return (f"speed-up above {FAR:g}x",) if timing.speedup.value > FAR else ()


def impossible(timing: Timing, least_s: float, of: str) -> str:
    """Why no program can be as fast as this winner; empty if it is possible.

    ``least_s``: CPU seconds of a pass of ``of``, the lower bound.  Applies to CPU time only.
    """
    seconds = _of_a_pass(timing)
    if timing.clock != "cpu" or seconds >= MARGIN * least_s:
        return ""
    return (
        f"{seconds * 1e3:.4f} ms of CPU time is less than half of what as many {of} take here ({least_s * 1e3:.4f} ms):"
        " its work was not seen"
    )


def unread(timing: Timing, reading_s: float) -> tuple[str, ...]:
    """A reason for a re-check if it was too fast to read its inputs; an honest program may need only a part of them."""
    is_below = timing.clock == "cpu" and _of_a_pass(timing) < MARGIN * reading_s
    return ("faster than its inputs can be read",) if is_below else ()


def _of_a_pass(timing: Timing) -> float:
    return median(candidate for _, candidate in timing.samples)


def words_of(problem: Problem, program: Program) -> tuple[str, ...]:
    """Suspicious uses in the code of ``program`` that the original does not have, each once, with file and line."""
    found = dict(_uses(problem.language, program))
    own = {what for what, _ in _uses(problem.language, problem.program)}
    return tuple(f"{what} ({where})" for what, where in found.items() if what not in own)


def _uses(tongue: str, program: Program) -> Iterator[tuple[str, str]]:
    look = _in_python if language(tongue).grammar == "python" else _in_c
    for path, text in program.files.items():
        for what, line in look(text):
            yield what, f"{path}, line {line}"


def _in_c(text: str) -> Iterator[tuple[str, int]]:
    joined = _SPLICE.sub("", text)  # joins words that are split over lines
    code = without_comments(joined, keeps_literals=False)
    for match in _INCLUDE.finditer(without_comments(joined)):
        if match[2].startswith("/") or ".." in match[2].split("/"):
            yield "an include from elsewhere", joined.count("\n", 0, match.start()) + 1
    for pattern, what in _IN_C:
        if (used := pattern.search(code)) is not None:
            yield what, code.count("\n", 0, used.start()) + 1
    lists = (one for giving in _GIVING_THEM for one in giving.finditer(code))  # each is read once
    if (given := next((one for one in lists if _ATTRIBUTES.search(code, *one.span())), None)) is not None:
        yield "attributes", code.count("\n", 0, given.start()) + 1


def _in_python(text: str) -> Iterator[tuple[str, int]]:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _in_tokens(text)
        return
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            for name in names:
                if name.split(".")[0] in _PYTHON_MODULES:
                    yield f"the module {name.split('.')[0]}", node.lineno
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _PYTHON_CALLS:
                yield f"a call of {called}", node.lineno


def _in_tokens(text: str) -> Iterator[tuple[str, int]]:
    """For text that this Python cannot parse: by names only."""
    try:
        for one in tokenize.generate_tokens(io.StringIO(text).readline):
            if one.type == tokenize.NAME and one.string in _PYTHON_MODULES | _PYTHON_CALLS:
                yield f"the name {one.string}", one.start[0]
    except (tokenize.TokenError, SyntaxError):
        yield "text that this Python cannot read", 1
