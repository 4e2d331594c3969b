"""What the summary of a test runner says, by number: a candidate must run as many tests as base.

The numbers come from the candidate's process, so that equal ones prove little; other ones prove that tests are missing.
Each pattern takes time in proportion to the output, whatever it holds, and a number has nine digits at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_SUMMARIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("passed", re.compile(r"\b(\d{1,9}) (?:tests? )?(?:passed|passing)\b")),
    ("failed", re.compile(r"\b(\d{1,9}) (?:tests? )?(?:failed|failing)\b")),
    ("skipped", re.compile(r"\b(\d{1,9}) (?:tests? )?(?:skipped|ignored|pending|deselected)\b|\bskipped=(\d{1,9})")),
    ("expected failures", re.compile(r"\b(\d{1,9}) xfailed\b|\bexpected failures=(\d{1,9})")),
    ("errors", re.compile(r"\b(\d{1,9}) errors?\b")),
    ("ran", re.compile(r"^Ran (\d{1,9}) tests?\b", re.MULTILINE)),
    ("of ctest", re.compile(r"\btests failed out of (\d{1,9})")),
    ("of googletest", re.compile(r"^\[  PASSED  \] (\d{1,9}) tests?", re.MULTILINE)),
    ("of node", re.compile(r"^(?:#|ℹ) pass (\d{1,9})", re.MULTILINE)),
)
_LINES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("packages", re.compile(r"^ok\s+\S+\s", re.MULTILINE)),
    ("lines PASS", re.compile(r"^[ \t]*--- PASS", re.MULTILINE)),
    ("lines SKIP", re.compile(r"^[ \t]*--- SKIP", re.MULTILINE)),
    ("lines ok", re.compile(r"^ok \d+\b(?!.*# SKIP)", re.MULTILINE)),
)


def counted(output: bytes) -> dict[str, int]:
    """The numbers of all summaries in an output, each kind added up; empty if no summary is known."""
    text = output.decode(errors="replace")
    sums = {
        name: sum(int(next(filter(None, found.groups()), "0")) for found in pattern.finditer(text))
        for name, pattern in _SUMMARIES
        if pattern.search(text)
    }
    lines = {name: len(pattern.findall(text)) for name, pattern in _LINES}
    return {**sums, **{name: count for name, count in lines.items() if count}}


def told(counts: Mapping[str, int]) -> str:
    """The numbers in words."""
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"


def difference(base: Mapping[str, int], candidate: Mapping[str, int]) -> str:
    """How the numbers differ, in words; empty if they do not."""
    differing = [name for name in {**base, **candidate} if base.get(name, 0) != candidate.get(name, 0)]
    return f"tests: {told(candidate)}; in base {told(base)}" if differing else ""
