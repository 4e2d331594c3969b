"""The facts of a run: ``run.toml``, known keys first with their names, then unknown ones unchanged.  Its notes are in
another place of the page, and its machine code is in the record only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from maxcode.core.wording import duration
from maxcode.run.record import GIVEN
from maxcode.run.report.html import Html, element, join
from maxcode.run.report.run_view import RunView

_KNOWN = {
    "problem": "Problem",
    "source": "Source",
    "language": "Language",
    "flags": "Compiler flags",
    "suite": "Problem of a suite",
    "device": "Device",
    "constants": "Shapes (constants replaced)",
    "goal": "Goal (clock)",
    "checker": "Checker",
    "method": "Method",
    "policy": "Policy",
    "candidate": "Digest of the given candidate",
    "critic": "Critic",
    "answer": "Form of a model's answer",
    "without": "Parts left out of prompts",
    "prompts": "Digest of the prompts",
    "replay": "Answers replayed from",
    "seed": "Seed",
    "budget": "Budget (candidates)",
    "shape": "Budget that sets the width of the search",
    "caps": "Caps",
    "tests": "Tests",
    "sandbox": "Sandbox",
    "machine": "Machine",
    "version": "maxcode version",
    "digest": "Digest of the problem",
}
_INNER = {"held_out": "held out", "node": "name", "cpu": "processor"}
_ELSEWHERE = {"notes", "parts", "machine_code", GIVEN}


def run_facts(run: RunView) -> Html:
    """A description list of the run's settings and its cost."""
    return element("dl", *_pairs(_all(run)), class_="facts")


def _all(run: RunView) -> Iterator[tuple[str, object]]:
    yield from ((label, run.header[key]) for key, label in _KNOWN.items() if key in run.header)
    yield from ((key, value) for key, value in run.header.items() if key not in _KNOWN.keys() | _ELSEWHERE)
    yield "Candidates launched", len(run.slots)
    if run.started:
        yield "Time", f"{run.seconds:.1f} s of work, from {_moment(run.started)} to {_moment(run.last)}"
    paid = run.paid
    if paid.calls:
        yield "Model calls", paid.calls
    if paid.tokens:
        yield "Model tokens", f"{paid.prompt_tokens} in, {paid.completion_tokens} out"
    if paid.calls:
        yield "Model cost", "price not known" if paid.dollars is None else f"${paid.dollars:.4g}"


def spent(run: RunView) -> Html:
    """The cost of the run in one line: candidates, time, model calls, tokens, money."""
    paid = run.paid
    of = f" of {run.budget}" if run.budget is not None else ""
    facts = [
        ("Candidates", f"{len(run.slots)}{of}"),
        ("Time", duration(run.seconds)),
        ("Model calls", f"{paid.calls}"),
    ]
    if paid.calls:
        cost = "price not known" if paid.dollars is None else f"${paid.dollars:.4g}"
        facts += [("Tokens", f"{paid.prompt_tokens:,} in, {paid.completion_tokens:,} out"), ("Cost", cost)]
    told = (element("div", element("dt", label), element("dd", value)) for label, value in facts)
    return element("dl", *told, class_="spent")


def _pairs(facts: Iterator[tuple[str, object]]) -> Iterator[Html]:
    for label, value in facts:
        yield element("div", element("dt", label), element("dd", show(value)))


def show(value: object) -> Html:
    """A TOML value in readable form: tables become nested lists, arrays are joined."""
    if isinstance(value, Mapping):
        inner = ((_INNER.get(str(key), str(key)), part) for key, part in value.items())
        return element("dl", *_pairs(inner), class_="inner") if value else join(["none"])
    if isinstance(value, list):
        return join((show(part) for part in value), ", ") if value else join(["none"])
    if isinstance(value, bool):
        return join(["yes" if value else "no"])
    return join([str(value) or "none"])


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
