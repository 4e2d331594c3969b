"""The prompt of a candidate, if a language model was called for it.

The record holds completions; the journal (``calls.jsonl``) holds calls with their completions.  A candidate's prompt is
that of the call with exactly its completion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from maxcode.core.types import StateId
from maxcode.core.wording import number_of
from maxcode.llm.clients import Message
from maxcode.llm.journal import CALLS, answers_in
from maxcode.run.report.headline import anchor, name
from maxcode.run.report.html import Html, clip, details, element, paragraphs, scrolled
from maxcode.run.report.run_view import RunView

SHORT = 300  # characters; a shorter section is repeated instead of linked


@final
@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, its model and temperature; ``calls``: number of calls with the same answer."""

    model: str
    temperature: float
    messages: tuple[Message, ...]
    calls: int = 1


def prompts_of(run: RunView, wanted: set[StateId]) -> dict[StateId, Prompt]:
    """The prompts of these candidates that the journal holds; none without a journal."""
    if not (run.folder / CALLS).is_file():
        return {}
    said = {slot.action.completion: slot.at for slot in run.slots if slot.action and slot.at in wanted}
    by_text: dict[str, Prompt] = {}
    for call in answers_in(run.folder):
        text = call.completion.text
        if text not in said:
            continue
        calls = by_text[text].calls + 1 if text in by_text else 1
        first = by_text.get(text) or Prompt(call.model, call.request.temperature, call.request.messages)
        by_text[text] = Prompt(first.model, first.temperature, first.messages, calls)
    slots = [slot for slot in run.slots if slot.action and slot.at in wanted and slot.action.completion in by_text]
    return {slot.at: by_text[slot.action.completion] for slot in slots if slot.action}


def sections(text: str) -> list[tuple[str, str]]:
    """(title, text) of a prompt with ``# Title`` lines, apart from those in fenced code; the text before the first has
    no title."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.split("\n"):
        if match := _FENCE.match(line):
            fence = "" if fence and match[1].startswith(fence) else fence or match[1]
        if not fence and line.startswith("# "):
            found.append((line[2:].strip(), []))
        else:
            found[-1][1].append(line)
    told = [(title, "\n".join(lines).strip()) for title, lines in found]
    return [(title, body) for title, body in told if title or body]


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@final
class PromptWriter:
    """Draws prompts; a long section that an earlier prompt of the page has too becomes a link to it."""

    def __init__(self) -> None:
        self._seen: dict[str, StateId] = {}

    def draw(self, at: StateId, prompt: Prompt, most: int) -> Html:
        """The folded prompt of candidate ``at``, each section in its own fold, in at most ``most`` bytes each."""
        parts = [(said.role, title, body) for said in prompt.messages for title, body in sections(said.text)]
        count = number_of(len(parts), "section")
        who = f"{prompt.model} at temperature {prompt.temperature:g}"
        twice = f" {prompt.calls} calls got this very answer; the first is shown." if prompt.calls > 1 else ""
        drawn = (self._section(title or role, body, most) for role, title, body in parts)
        return details(f"Prompt: {count}", paragraphs(f"Asked of {who}.{twice}"), *drawn)

    def _section(self, title: str, body: str, most: int) -> Html:
        before = self._seen.get(body)
        if before is not None and len(body) > SHORT:
            link = element("a", f"candidate {name(before)}", href=f"#{anchor(before)}")
            return element("p", element("b", title), ": the same as in the prompt of ", link, class_="again")
        text = element("pre", element("code", clip(body, most)))
        return details(f"{title} ({len(body):,} characters)", scrolled(title, text, class_="code said"))

    def keep(self, at: StateId, prompt: Prompt) -> None:
        """Records that the prompt is on the page, so that later ones may link to it."""
        for said in prompt.messages:
            for _, body in sections(said.text):
                self._seen.setdefault(body, at)
