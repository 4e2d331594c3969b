"""``--dry-run``: the first prompt of a run, and an estimate of its cost.  It asks no model and needs no key."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import final

import msgspec

from maxcode.core.budget import MANY
from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Policy
from maxcode.core.types import Observation, Problem, State
from maxcode.evaluate.target import Target, where
from maxcode.llm.clients import Message
from maxcode.llm.clients.connect import estimate_tokens
from maxcode.policy.llm import Llm, messages
from maxcode.run.admission import Admission, admit
from maxcode.run.batch import draw_of
from maxcode.run.complete_request import CompleteRequest, completed
from maxcode.run.estimate import Estimate, estimated
from maxcode.run.method_parts import method_of, method_parts, scene_of
from maxcode.run.request import Request


@final
@dataclass(frozen=True, slots=True)
class Preview:
    """The first prompt by role, and the estimate for all ``candidates``.

    ``prompt_tokens``  tokens of the first prompt, one per four bytes
    ``calls``, ``tokens``, ``dollars``  the expected cost of the run; dollars are None if a price is not known
    ``estimate``       the same with its bounds
    """

    messages: tuple[Message, ...]
    prompt_tokens: int
    calls: int = 0
    tokens: int = 0
    dollars: float | None = None
    candidates: int = 0
    estimate: Estimate = field(default_factory=Estimate)

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode(dataclasses.asdict(self)).decode()

    def as_text(self) -> str:
        """The prompt, then the estimate."""
        told = [f"----- {message.role}\n{message.text}" for message in self.messages]
        told.append(f"----- estimate\nfirst prompt about {self.prompt_tokens} tokens; {self._whole_run()}")
        return "\n".join(told)

    def _whole_run(self) -> str:
        words, found = self.estimate.words(), self.estimate
        if found.by_agent:
            return f"{self.candidates} candidates, {words}"
        return f"{self.candidates} candidates {words}" if found.expected.calls else words


def first_prompt(request: Request) -> Preview:
    """The first prompt of a run and an estimate of its cost; admits the problem, asks no model."""
    job = completed(request)
    with where(job.request.measured_on) as target:
        admission = admit(job.loaded, target, is_here=not job.request.cluster)
        return preview_of(job, admission)


def estimate_of(request: Request, target: Target) -> Estimate:
    """The estimated cost of a run; admits the problem on ``target``, asks no model."""
    job = completed(request)
    admission = admit(job.loaded, target, is_here=not request.cluster)
    with method_parts(job.request, asks=False) as parts:
        return estimated(job.request, parts, admission)


def preview_of(job: CompleteRequest, admission: Admission) -> Preview:
    """The preview of a complete request whose problem is admitted."""
    request = job.request
    with method_parts(request, asks=False) as parts:
        scene = scene_of(request, admission, parts)
        asked = prompt_of(admission.admitted.problem, method_of(request, parts, scene), parts.policy, request.seed)
        found = estimated(request, parts, admission)
    size = sum(estimate_tokens(message.text) for message in asked)
    candidates = request.budget if request.budget < MANY else request.width_for
    usual = found.expected
    dollars = usual.dollars if usual.calls else None
    return Preview(asked, size, usual.calls, usual.tokens, dollars, candidates, found)


def prompt_of(problem: Problem, method: Method, policy: Policy, seed: int) -> tuple[Message, ...]:
    """The prompt of the first slot of a run.  For a policy that is no model: the one that a model would get."""
    root = State(problem)
    observation = Observation(method.observe(root, Reached(root)), root, draw_of(seed, root.id, 0))
    return messages(observation, policy.answer if isinstance(policy, Llm) else "whole")
