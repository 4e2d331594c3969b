"""Makes the parts of a method from the names in a request: policy, critic and value model, each once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import final

from maxcode.core.method import Method
from maxcode.core.roles import Compiler, Critic, Policy
from maxcode.llm.clients import Model
from maxcode.llm.clients.command import AGENT
from maxcode.llm.clients.connect import recorded
from maxcode.llm.clients.retrying import Patience, Retrying
from maxcode.llm.journal import Journal, Journalled, NoModel
from maxcode.observe.critique import LlmCritic
from maxcode.policy.agent import agent_model
from maxcode.run.admission import Admission
from maxcode.run.asking import asked_policy
from maxcode.run.names import ASK, CALLED, critic, guide, policy
from maxcode.run.request import Request
from maxcode.run.request_checks import rules_of
from maxcode.search import methods
from maxcode.search.scene import Scene, admitted_scene
from maxcode.search.value import ValueRoles, load
from maxcode.search.value_guided import guided_policy

_AGENT_ATTEMPTS = 2  # minutes each


@final
@dataclass(frozen=True, slots=True)
class MethodParts:
    """``journal`` holds the calls of the policy's and the critic's models; ``value`` is None without a value model."""

    policy: Policy
    critic: Critic
    value: ValueRoles | None
    journal: Journal


@contextmanager
def method_parts(request: Request, asks: bool = True) -> Iterator[MethodParts]:
    """Makes the parts that a complete request names; raises InputError for a wrong name, a missing key or an unusable
    value model.  Writes nothing: the journal is in memory until it gets a folder.  Without ``asks`` no model will be
    asked, so no key is needed."""
    with Journal(replay=request.replay) as journal:

        @cache  # one client for each model, because the limit on concurrent calls belongs to the client
        def models(name: str) -> Model:
            if not asks:
                return NoModel()
            return _agent(name, request, journal) if name.startswith(AGENT) else recorded(name, request.models, journal)

        methods.recipe(request.method, frozenset(request.without))
        parts = MethodParts(
            asked_policy(request)
            if request.policy == ASK
            else policy(request.policy, models, request.answer, rules_of(request), request.ask_policy, request.agent),
            critic(request.critic, request.policy, models, request.ask_critic),
            load(request.value) if request.value is not None else None,
            journal,
        )
        guided_policy(request.method, parts.policy, guide(parts.value, request.draw, request.unranked))
        yield parts


def _agent(name: str, request: Request, journal: Journal) -> Journalled:
    """The agent of a policy behind the journal; a replay starts none."""
    if journal.replay is not None:
        return Journalled(NoModel(), name, journal)
    patience = Patience(
        min(request.models.attempts, _AGENT_ATTEMPTS), request.agent.seconds, request.models.concurrency
    )
    return Journalled(Retrying(agent_model(name, request.agent), f"the agent '{name}'", patience), name, journal)


def method_of(request: Request, parts: MethodParts, scene: Scene, compiler: Compiler | None = None) -> Method:
    """The method of a request, for an admitted problem."""
    scene = replace(
        scene,
        guide=guide(parts.value, request.draw, request.unranked, compiler),
        gamma=request.gamma,
        trajectory_tokens=request.trajectory_tokens,
    )
    return methods.method(request.method, parts.policy, request.budget, scene, parts.critic)


def scene_of(request: Request, admission: Admission, parts: MethodParts) -> Scene:
    """The facts about the admitted problem, its machine and the roles that the method may use."""
    found = admission.admitted
    without = frozenset(request.without)
    scene = admitted_scene(admission.machine, found.problem, found.baseline, without, found.facts)
    asks = request.policy.startswith(CALLED)
    return replace(scene, asks_model=asks, pays_critic=isinstance(parts.critic, LlmCritic))
