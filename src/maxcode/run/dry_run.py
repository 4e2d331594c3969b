"""``--dry-run``: the first prompt of a run, and a rough estimate of its cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import msgspec

from maxcode.core.budget import MANY
from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.types import Observation, Problem, State
from maxcode.evaluate.target import where
from maxcode.llm.clients import Message
from maxcode.llm.clients.connect import estimate_tokens, price_of
from maxcode.llm.clients.prices import Price
from maxcode.observe.critique import LlmCritic
from maxcode.policy.llm import Llm, messages
from maxcode.policy.reranked import Reranked
from maxcode.run.admission import admit
from maxcode.run.batch import draw_of
from maxcode.run.complete_request import completed
from maxcode.run.method_parts import method_of, method_parts, scene_of
from maxcode.run.names import models_asked
from maxcode.run.request import Request
from maxcode.search.methods import Tempered


@final
@dataclass(frozen=True, slots=True)
class Preview:
    """The first prompt by role, and the estimate for all ``candidates``.  Later prompts are longer and cost more.

    ``prompt_tokens``  tokens of the first prompt, one per four bytes
    ``calls``          one per candidate, and one more per candidate if a model is the critic
    ``tokens``         of these calls, each with this prompt and an answer as long as the program
    ``dollars``        cost of these calls; None if a model's price is not known
    """

    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: int
    tokens: int
    dollars: float | None = None
    candidates: int = 0

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode(dataclasses.asdict(self)).decode()

    def as_text(self) -> str:
        """The prompt, then the estimate."""
        told = [f"----- {message.role}\n{message.text}" for message in self.messages]
        told.append(f"----- estimate\nfirst prompt about {self.prompt_tokens} tokens; {self._whole_run()}")
        return "\n".join(told)

    def _whole_run(self) -> str:
        if not self.calls:
            return "the policy and the critic are no language models, so the run makes no calls"
        money = "price unknown" if self.dollars is None else f"${self.dollars:.2g}"
        return (
            f"{self.candidates} candidates about {self.calls} model calls, {self.tokens} tokens ({money}) or more, "
            "because later prompts are longer than the first"
        )


def first_prompt(request: Request) -> Preview:
    """The first prompt of a run and an estimate of its cost; admits the problem, calls no model."""
    job = completed(request)
    request = job.request
    with method_parts(request) as parts, where(request.measured_on) as target:
        admission = admit(job.loaded, target, is_here=not request.cluster)
        method = method_of(request, parts, scene_of(request, admission))
    prices = [price_of(name, request.models) for name in models_asked(request.policy, request.critic)]
    candidates = request.budget if request.budget < MANY else request.width_for
    return preview(admission.admitted.problem, method, candidates, request.seed, prices)


def preview(problem: Problem, method: Method, budget: int, seed: int, prices: Sequence[Price | None] = ()) -> Preview:
    """The prompt of the first slot of a run.  For a policy that is no model, it is the prompt that a model would get.

    ``prices``: those of the models that are called once per candidate; None: not known.
    """
    root = State(problem)
    observation = Observation(method.observe(root, Reached(root)), root, draw_of(seed, root, 0))
    policy = method.policy.policy if isinstance(method.policy, Tempered) else method.policy
    draws = policy.factor if isinstance(policy, Reranked) else 1
    policy = policy.policy if isinstance(policy, Reranked) else policy
    asked = messages(observation, policy.answer if isinstance(policy, Llm) else "whole")
    size = sum(estimate_tokens(message.text) for message in asked)
    answer = sum(estimate_tokens(text) for text in problem.program.files.values())
    times = [draws] * isinstance(policy, Llm) + [1] * isinstance(method.critic, LlmCritic)
    calls = budget * sum(times)
    each = [None if one is None else one.dollars(size, answer) for one in prices]
    known = [one * often for one, often in zip(each, times, strict=False) if one is not None]  # a critic may not be one
    dollars = budget * sum(known) if calls and None not in each else None
    return Preview(asked, size, calls, calls * (size + answer), dollars, budget)
