"""Which tests fail, and with which errors, of what a test runner or a compiler prints.

For prompts, never for a verdict.  Lines are chosen by a short list of patterns, for pytest, unittest, ctest,
googletest, Unity, cargo, go test, jest, mocha, node and compilers.  Where none is found, the beginning and the end are
told.  All of it comes from the candidate's processes, as every diagnostic does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from maxcode.core.printable import printable

NAMES_KEPT = 10
_NAMED, _NAME_AT_MOST, _ERROR_AT_MOST = 3, 120, 200  # tests in a reason, characters
_READ, _LINE = 200_000, 300  # characters at either end of an output, and of a line
_TOLD, _HEAD = 1800, 600  # characters
_NAMES = tuple(
    re.compile(one)
    for one in (
        r"(?:FAILED|ERROR) (?P<test>[\w./-]+\.\w+(?:::.*?)?)(?: - .*)?$",  # pytest
        r"(?:FAIL|ERROR): (?P<test>\S.*)",  # unittest, automake
        r"\s+\d+ - (?P<test>\S+) \((?:Failed|Timeout|SEGFAULT|ILLEGAL|Subprocess|Exit|Child|Not Run)",  # ctest
        r"\[  FAILED  \] (?P<test>[\w/]+\.[\w/]+)",  # googletest
        r"test (?P<test>\S.*?) \.\.\. FAILED",  # cargo
        r"\s*--- FAIL: (?P<test>\S+)",  # go
        r"\s*not ok \d+ -? ?(?P<test>\S.*)",  # TAP
        r"\s*● (?P<test>\S.*› .*)",  # jest
        r"\s*✖ (?P<test>\S.*?)(?: \([\d.]+ms\))?$",  # node
        r" *\d+/\d+ (?P<test>\S.*?) +(?:FAIL|TIMEOUT)\b.*",  # meson
    )
)
_MOCHA = re.compile(r" +\d+\) (?P<test>\S.*)")
_ERRORS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(one), more)
    for one, more in (
        (r"E  +\S|>  +\S", 0),  # pytest: the error, and the line that fails
        (r"thread '.*' \(?.*panicked at", 3),
        (r"panic: |fatal error: |Segmentation fault|.*\bSanitizer\b", 0),
        (r"\s+\S+_test\.go:\d+: ", 2),
        (r"\S+:\d+:\w+:FAIL\b|.*\bAssertion\b.*\bfailed\b", 0),  # Unity, assert
        (r".*: (?:fatal )?error\b", 2),  # compilers
        (r".*: Failure$", 4),  # googletest
        (r"\s+error: ", 4),  # TAP
        (r"\s*(?:Expected|Received|expected|actual|Actual)\b ?\S*:? ", 0),
        (r"\s*(?:\w+\.)*\w*(?:Error|Exception)\b(?:: |$| \[)", 3),  # unittest, JavaScript
    )
)  # fmt: skip
# What ends an error before its lines are over.
_END = re.compile(
    r"[=-]{5}|FAIL\b|stack backtrace|note: |\s*(?:\.\.\.|code: .*)$|\s*--- |# Subtest|\s*\d+/\d+ Test"
)  # of an error
_PLACE = re.compile(r'\s+File "|\S+:\d+: \w*(?:Error|Exception)$')  # told if there is room


def failing(output: str) -> tuple[str, ...]:
    """The names of the tests that fail, in order."""
    lines = _lines(output)
    is_mocha = any(re.match(r"\s*\d+ failing$", line) for line in lines)
    patterns = (*_NAMES, *([_MOCHA] if is_mocha else []))
    found = (match["test"].strip() for line in lines for one in patterns if (match := one.match(line)))
    return tuple(dict.fromkeys(found))


def failing_in_words(output: str) -> str:
    """The first of the tests that fail with the first error, on one line; empty if none is named.  All pass in base."""
    names, error = failing(output), first_error(output)
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    told = ", ".join(name[:_NAME_AT_MOST] for name in names[:_NAMED])
    return printable(f"failing, though right in base: {told}{more}{f': {error}' if error else ''}")


def first_error(output: str) -> str:
    """The first error on one line, with the next one where it says that more follows; empty without one."""
    lines = _lines(output)
    at = next((at for at, line in enumerate(lines) if _after(line) is not None and not line.startswith(">")), None)
    if at is None:
        return ""
    is_open = lines[at].endswith((":", "|-"))
    told = lines[at].removeprefix("E ").removesuffix("|-")
    return printable(" ".join(f"{told} {''.join(lines[at + 1 : at + 2]) if is_open else ''}".split())[:_ERROR_AT_MOST])


def telling(output: str) -> str:
    """The names of the tests that fail and the lines with errors, each once; without any the beginning and the end."""
    lines, names = _lines(output), failing(output)
    kept = _kept(lines)
    if not kept and not names:
        return _ends(output.strip())
    head = [f"failing: {name[:_LINE]}" for name in names[:NAMES_KEPT]]
    more = [f"({len(names) - NAMES_KEPT} more tests fail)"] if len(names) > NAMES_KEPT else []
    return "\n".join([*head, *more, *(lines[at] for at in kept)])


def _lines(output: str) -> list[str]:
    text = output if len(output) <= 2 * _READ else f"{output[:_READ]}\n{output[-_READ:]}"
    return [line[:_LINE].rstrip() for line in text.splitlines()]


def _after(line: str) -> int | None:
    """How many lines after this one belong to an error; None if it is none."""
    return next((more for pattern, more in _ERRORS if pattern.match(line)), None)


def _kept(lines: Sequence[str]) -> list[int]:
    """The numbers of the lines with errors, then of places as far as there is room; no line twice."""
    left, kept, seen = _TOLD, set[int](), set[str]()
    for at in (*_errors(lines), *_places(lines)):
        if lines[at].strip() and lines[at] not in seen and len(lines[at]) < left:
            seen.add(lines[at])
            kept.add(at)
            left -= len(lines[at]) + 1
    return sorted(kept)


def _errors(lines: Sequence[str]) -> Iterator[int]:
    for at, line in enumerate(lines):
        if (more := _after(line)) is not None:
            yield at
            following = range(at + 1, min(at + more + 1, len(lines)))
            yield from takewhile(lambda one: not _END.match(lines[one]), following)


def _places(lines: Sequence[str]) -> Iterator[int]:
    for at, line in enumerate(lines):
        if _PLACE.match(line):
            yield from range(at, min(at + 1 + line.lstrip().startswith("File"), len(lines)))


def _ends(text: str) -> str:
    if len(text) <= _TOLD:
        return text
    return f"{text[:_HEAD].rstrip()}\n[...]\n{text[_HEAD - _TOLD :].lstrip()}"
