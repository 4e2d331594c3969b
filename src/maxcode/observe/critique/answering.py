"""A critic's answer by fixed rules, from nothing but the critic's prompt: what `maxcode serve` says in a model's place.

It makes the path of a model critic testable without a model, and its diagnosis says that there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from maxcode.observe.critique.critic_prompt import HEADING
from maxcode.observe.critique.critique_answer import (
    DIAGNOSIS_AT_MOST,
    STEP_AT_MOST,
    STEPS_AT_MOST,
    Bottleneck,
    CritiqueAnswer,
)
from maxcode.observe.critique.rule_critic import ERROR, topic_of

HONEST = "Built-in rules (no language model):"

_TITLES = frozenset(
    {"Problem", "Previous program", "New program", "Feedback", "Remarks", "Profile", "Previous step", "Task"}
)
_FENCE = re.compile(r"^(`{3,})")
_NUMBERED = re.compile(r"^ *(\d{1,9})\| ", re.MULTILINE)
_RESULT = re.compile(r"^=> (\w+)(?:: (.*))?", re.MULTILINE)
_SPOT = re.compile(r"^(\d{1,9})% at (?:line (\d{1,9})|no line of the program) in \[(.*?)\]: (.*)$", re.MULTILINE)
_REMARK = re.compile(r"^line (\d{1,9}): (missed|optimized): (.*)$", re.MULTILINE)
_FAILED = re.compile(
    r"^(?:test \S+: (?:wrong|crashed|timeout)\..*|\d+ held-out test\(s\) failed|newly failing: .*)$", re.M
)


def rule_answer(prompt: str) -> str:
    """The JSON that a critic answers to ``prompt``, a user message of the critic; never fails on any text."""
    found = sections(prompt)
    numbers = [int(number) for number in _NUMBERED.findall(found.get("New program", ""))]
    answer = _answer(found)
    line = answer.line if answer.line is not None and answer.line <= max(numbers, default=0) else None
    fields = {
        "diagnosis": f"{HONEST} {answer.diagnosis}"[:DIAGNOSIS_AT_MOST],
        "bottleneck": answer.bottleneck,
        "line": line,
        "steps": [step[:STEP_AT_MOST] for step in answer.steps[:STEPS_AT_MOST]],
    }
    return json.dumps(fields)


def is_critic(prompt: str) -> bool:
    """Whether a user message asks for a critique."""
    return prompt.lstrip().startswith(HEADING)


def sections(prompt: str) -> dict[str, str]:
    """The prompt's sections by title; a heading inside a fence is text."""
    found: dict[str, list[str]] = {}
    title = fence = ""
    for line in prompt.split("\n"):
        if not fence and line.startswith("# ") and line[2:].strip() in _TITLES:
            title = line[2:].strip()
            found.setdefault(title, [])
            continue
        if (ticks := _FENCE.match(line)) is not None:
            closes = fence and line.strip() == fence
            fence = "" if closes else fence or ticks[1]
        found.setdefault(title, []).append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def _answer(found: dict[str, str]) -> CritiqueAnswer:
    feedback = found.get("Feedback", "")
    result = _RESULT.search(feedback)
    outcome, reason = (result[1], result[2] or "") if result is not None else ("", "")
    match outcome:
        case "correct":
            return _slow(found)
        case "unbuilt":
            return _unbuilt(feedback, reason)
        case "":
            step = "Evaluate the program, and ask again with what was measured."
            return CritiqueAnswer("The prompt tells no result.", "none", None, (step,))
        case _:
            return _failed(outcome, feedback, reason)


def _unbuilt(feedback: str, reason: str) -> CritiqueAnswer:
    errors = [(line, words) for _, line, words in ERROR.findall(feedback)]
    if not errors:
        told = f"It does not build: {reason or 'no reason is given'}."
        return CritiqueAnswer(told, "build", None, ("Undo the last change, or mend what the compiler names.",))
    line, words = errors[0]
    steps = tuple(f"line {number}: {message}" for number, message in errors[:3])
    return CritiqueAnswer(
        f"It does not build: line {line}: {words}", "build", int(line), (*steps, "Mend the types there.")
    )


def _failed(outcome: str, feedback: str, reason: str) -> CritiqueAnswer:
    """Where no line is known to be guilty, none is named."""
    failed = [line.strip() for line in _FAILED.findall(feedback)]
    told = f"The outcome is {outcome}: {reason or '; '.join(failed[:2]) or 'no reason is given'}."
    steps = [f"Mend this: {line}" for line in failed[:3]]
    if outcome == "timeout":
        steps.append("Look for a loop that does not end, or a far worse algorithm.")
    steps.append("Compare with the previous program: what was changed since is to blame, if that one passed.")
    return CritiqueAnswer(told, "correctness", None, tuple(steps))


def _slow(found: dict[str, str]) -> CritiqueAnswer:
    """The class of the hottest line that a rule speaks for, and what usually helps at each hot line."""
    spots = [
        (int(share), int(line or 0), function, text)
        for share, line, function, text in _SPOT.findall(found.get("Profile", ""))
    ]
    if not spots:
        step = "Measure with larger inputs, so that the run is long enough to be sampled."
        return CritiqueAnswer("It is correct, and there is no profile: nothing can be blamed.", "none", None, (step,))
    topics = [(line, topic) for _, line, function, text in spots if (topic := topic_of(function, text)) is not None]
    share, line, function, text = spots[0]
    told = f"{share}% of the time is spent at {f'line {line}' if line else 'an unknown line'} ({function}): {text}"
    kind: Bottleneck = topics[0][1].bottleneck if topics else "none"
    steps = [f"line {at}: {topic.advice}" if at else topic.advice for at, topic in topics[:4]]
    steps += list(_told_near(found.get("Remarks", ""), {at for _, at, _, _ in spots}))[:2]
    return CritiqueAnswer(
        told, kind, line or None, tuple(steps) or ("Look at this line: no rule knows what helps there.",)
    )


def _told_near(remarks: str, hot: set[int]) -> Iterator[str]:
    for line, kind, text in _REMARK.findall(remarks):
        if kind == "missed" and any(abs(int(line) - at) <= 2 for at in hot):
            yield f"line {line}: the compiler says: {text}"
