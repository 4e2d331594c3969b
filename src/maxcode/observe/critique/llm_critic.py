"""A language model as the critic, with extended thinking, as in the paper; the rule critic answers if it cannot be
read.

Departures, ours: the answer is JSON with a class of bottleneck and a line, so that critics can be scored
(benchmarks/critics.py); a step without a program is explained by the rules alone, since there is nothing to read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from maxcode.core.roles import Critic
from maxcode.core.types import Facts, Machine, Problem, Step
from maxcode.errors import NotRecordedError
from maxcode.llm.clients import Completion, Message, Model, ModelRequest
from maxcode.llm.prompts import filled
from maxcode.observe.critique.critic_prompt import Setting, judged, lines_of, messages
from maxcode.observe.critique.critique_answer import CritiqueAnswer, Unreadable, read

_QUOTED = 4_000  # characters of an invalid answer that are quoted in the second request


@final
@dataclass(frozen=True, slots=True)
class LlmCritic:
    """Asks once, and a second time if the answer is not valid; then ``fallback`` answers, and the critique says so.

    ``max_tokens`` limits the answer, ``thinking_tokens`` the thinking before it.  The model's journal counts the cost.
    ``machine`` and ``facts`` are part of the prompt.
    In a replay on another path ``fallback`` answers what is not recorded, and the critique says so.  Raises
    ProviderError if the provider failed for good; then there is no critique.
    """

    model: Model
    fallback: Critic
    thinking_tokens: int = 4096
    max_tokens: int = 2048
    temperature: float = 0.6
    machine: Machine | None = None
    facts: Facts = field(default_factory=Facts)
    effort: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        return await self.critique_beside(problem, step, previous, ())

    async def critique_beside(self, problem: Problem, step: Step, previous: Step | None, beside: Sequence[str]) -> str:
        """The role ``BranchCritic``."""
        if step.action.program is None:
            return await self.fallback.critique(problem, step, previous)
        setting = Setting(self.machine, self.facts, beside)
        try:
            answer = await self._ask(problem, step, previous, setting)
        except NotRecordedError:
            told = "The model's critique is not among the replayed answers; by fixed rules:"
        else:
            if isinstance(answer, CritiqueAnswer):
                return answer.words(lines_of(judged(problem, step)))
            told = f"The model's critique could not be read ({answer.reason}); by fixed rules:"
        return f"{told}\n{await self.fallback.critique(problem, step, previous)}"

    async def _ask(
        self, problem: Problem, step: Step, previous: Step | None, setting: Setting
    ) -> CritiqueAnswer | Unreadable:
        asked, draw = messages(problem, step, previous, setting), _draw_of(step, previous)
        lines = 0 if problem.traits.is_patch else len(lines_of(judged(problem, step)))
        completion = await self.model.complete(self._request(asked, draw))
        answer = _read(completion, lines)
        if isinstance(answer, CritiqueAnswer):
            return answer
        again = Message("user", filled("critic_retry", reason=answer.reason))
        quoted = completion.text.strip()[:_QUOTED]
        said = (Message("assistant", quoted), again) if quoted else (again,)
        return _read(await self.model.complete(self._request((*asked, *said), draw + 1)), lines)

    def _request(self, asked: tuple[Message, ...], draw: int) -> ModelRequest:
        return ModelRequest(
            asked,
            draw,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            thinking_tokens=self.thinking_tokens,
            effort=self.effort,
            extra_body=self.extra_body,
        )


def _draw_of(step: Step, previous: Step | None) -> int:
    """A number for this pair of programs that does not depend on measurements, so that a replay finds the call
    again."""
    programs = [one.action.program for one in (step, previous) if one is not None]
    text = " ".join(program.digest for program in programs if program is not None)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])


def _read(completion: Completion, lines: int) -> CritiqueAnswer | Unreadable:
    answer = read(completion.text, lines)
    if isinstance(answer, Unreadable) and completion.ended == "length":
        return Unreadable(f"{answer.reason}; it was cut off at the limit of tokens")
    return answer
