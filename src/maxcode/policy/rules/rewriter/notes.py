"""What the sections of an observation say about the rules: earlier trials, and the lines that the diagnosis names.

The policy writes one line for each edit (``- label: what, why``).  ``observe`` shows these lines again, followed by the
result of the step (``=> correct, speedup 1.45x [1.40, 1.50]`` or ``=> unbuilt: reason``).  Nothing else is read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import final

from maxcode.code.cpp.edit import Edit, Rule, kind_of
from maxcode.core.types import Observation

_TOLD = ("Trajectory", "Failures", "Best", "Best of the run")
_LABEL = re.compile(r"^- (?P<label>\w+\([^()\n]*\)): ")
_FENCE = re.compile(r"^`{3,}")
_RESULT = re.compile(r"^=> (?P<outcome>\w+)(?:, speedup (?P<speedup>\d+(?:\.\d+)?)x)?")
_LINES = re.compile(r"\blines? (\d+)(?:\s*(?:-|–|to|and)\s*(\d+))?", re.IGNORECASE)
_BLOCK = re.compile(r"^(?:Step \d+|Original program): ?", re.MULTILINE)

_TOPICS = {
    "input": r"input|reading|reads|\bcin\b|scanf|istream|getchar|I/O|parsing",
    "output": r"output|printing|writes|\bcout\b|printf|ostream|endl|flush|I/O",
    "allocation": r"alloc|malloc|operator new|\bfree\b|memory management|\bdelete\b",
    "copy": r"cop(?:y|ies|ied|ying)|by value|memmove|memcpy",
    "lookup": r"\bmaps?\b|\bsets?\b|hash|look-?ups?|_Rb_tree|red-black|tree|search",
    "loop": r"loop|iteration|inner",
    "stride": r"strid|cache miss|column|locality|access pattern|cache",
    "cache": r"cache|locality|memory-bound",
    "vector": r"vectori[sz]|SIMD|unroll|not vectorized|alias",
    "recursion": r"recurs|call tree|overlapping|same arguments",
    "sort": r"\bsort|compar(?:e|ison)|introsort",
    "modulo": r"modul|remainder|division|divide|\bdiv\b|strength reduction",
    "arithmetic": r"arithmetic|\bpow\b|sqrt|floating|\bmath\b|libm|strlen|invariant",
    "string": r"string|substr|append|concat",
    "queue": r"queue|stack|deque|heap|priority",
    "call": r"function call|inlin|call overhead|std::function|indirect",
}
_FAILED_ALONE, _SUSPECT = 0.0, 0.3


@final
@dataclass(frozen=True, slots=True)
class Trial:
    """Edits that were made together, and their result.  ``gain``: the speed-up over the program before the step; None
    if the program was not correct."""

    labels: tuple[str, ...]
    gain: float | None


@final
@dataclass(slots=True)
class Experience:
    """Weights of edits from trials: 1 if unknown, 0 if it failed alone.

    An edit that failed together with others is a suspect: its weight is lower and it is tried alone, unless it was also
    part of a trial that worked.
    """

    factors: dict[str, float] = field(default_factory=lambda: defaultdict(lambda: 1.0))
    failed: frozenset[str] = frozenset()
    suspects: frozenset[str] = frozenset()
    failed_together: frozenset[frozenset[str]] = frozenset()

    def factor(self, edit: Edit) -> float:
        """The weight from trials of this edit, of its kind, and of its rule."""
        if edit.kind in self.failed:
            return _FAILED_ALONE
        suspicion = _SUSPECT if edit.kind in self.suspects else 1.0
        known = self.factors.get(edit.label, 1.0) * self.factors.get(edit.kind, 1.0)
        return suspicion * min(max(known, 0.02), 30.0)

    def rule_factor(self, rule: Rule) -> float:
        """The weight from trials of the rule at other sites, within limits, because the gain at another site may
        differ."""
        return min(max(self.factors.get(rule.name, 1.0), 0.1), 5.0)


@final
@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The content of the latest critique: lines of the program (1-based), and subjects."""

    lines: frozenset[int] = frozenset()
    topics: frozenset[str] = frozenset()

    def points_at(self, edit: Edit) -> int | None:
        """The first of its lines that belongs to an edit; None if none does."""
        near = (line for line in sorted(self.lines) if any(first <= line <= last for first, last in edit.lines))
        return next(near, None)

    def subject(self, rule: Rule) -> str | None:
        """The first of a rule's topics that it mentions."""
        return next((topic for topic in rule.topics if topic in self.topics), None)


def diagnosis(observation: Observation) -> Diagnosis:
    """The latest block of the section "Critique", because older ones are about other programs."""
    return diagnosis_of(_BLOCK.split(observation.section("Critique") or "")[-1])


def diagnosis_of(latest: str) -> Diagnosis:
    """The content of a critique."""
    lines: set[int] = set()
    for first, last in _LINES.findall(latest):
        lines |= set(range(int(first), min(int(last or first), int(first) + 200) + 1))
    topics = {topic for topic, pattern in _TOPICS.items() if re.search(pattern, latest, re.IGNORECASE)}
    return Diagnosis(frozenset(lines), frozenset(topics))


def trials(text: str, in_sequence: bool) -> list[Trial]:
    """The trials in a section; ``in_sequence``: each step started at the result of the one before it."""
    found: list[Trial] = []
    labels: list[str] = []
    before = 1.0
    fence = ""
    for line in text.splitlines():
        if (opened := _FENCE.match(line)) is not None:  # code is no note
            fence = opened[0] if not fence else "" if line.strip() == fence else fence
        if fence:
            continue
        if (noted := _LABEL.match(line)) is not None:
            labels.append(noted["label"])
        elif (result := _RESULT.match(line)) is not None:
            speedup = float(result["speedup"]) if result["speedup"] else None
            works = result["outcome"] == "correct"
            if labels:
                gain = (speedup or before) / before if works else None
                found.append(Trial(tuple(labels), gain))
            before = speedup if in_sequence and works and speedup else before
            labels = []
    return found


def experience(observation: Observation) -> Experience:
    """The experience from all trials in the sections."""
    told = [trial for title in _TOLD for trial in trials(_text(observation, title), title == "Trajectory")]
    worked = {kind_of(label) for trial in told if trial.gain is not None for label in trial.labels}
    failed: set[str] = set()
    suspects: set[str] = set()
    together: set[frozenset[str]] = set()
    for trial in told:
        if trial.gain is None:
            kinds = {kind_of(label) for label in trial.labels}
            together.add(frozenset(kinds))
            blamed = kinds - worked
            (failed if len(blamed) == 1 else suspects).update(blamed)
    return Experience(_factors(told), frozenset(failed), frozenset(suspects), frozenset(together))


def _text(observation: Observation, title: str) -> str:
    """The section; the trajectory with the result of its newest step, which may be in the feedback."""
    text = observation.section(title) or ""
    return f"{text}\n{observation.section('Feedback') or ''}" if title == "Trajectory" and text else text


def _factors(told: Iterable[Trial]) -> dict[str, float]:
    """Gains, divided among the edits of a trial: a double share for the edit itself, less for its kind and its rule."""
    factors: dict[str, float] = defaultdict(lambda: 1.0)
    for trial in told:
        if trial.gain is None:
            continue
        share = min(max(trial.gain, 0.3), 4.0) ** (1.0 / len(trial.labels))
        for label in trial.labels:
            factors[label] *= share**2
            factors[kind_of(label)] *= share
            factors[label.split("(")[0]] *= share**0.5
    return dict(factors)
