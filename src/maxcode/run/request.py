"""The user's request; ``request_checks.py`` checks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from maxcode.core.budget import Budget, Caps
from maxcode.errors import InputError
from maxcode.llm.clients import AnswerSettings
from maxcode.llm.clients.connect import ModelSettings
from maxcode.llm.completion import Answer
from maxcode.observe.trajectory import TOKENS
from maxcode.policy.agent import AgentSettings
from maxcode.problems import Source
from maxcode.problems.description import merged

if TYPE_CHECKING:
    from maxcode.evaluate.cluster import ClusterRequest


@final
@dataclass(frozen=True, slots=True)
class Request:
    """The user's request.

    ``policy``, ``method``  empty: the defaults of this kind of problem; ``critic`` empty: the default of the policy
    ``without``             names of the parts of the observation to leave out
    ``budget``              candidates; 0: those of the method's preset, else 24; with ``MANY`` the caps are the budget,
                            and the search is as wide as for ``width_for``
    ``total_seconds``       wall seconds of one command or call as a whole, waits included; None: no limit
    ``gamma``               the discount of rewards along a path, in (0, 1]
    ``trajectory_tokens``   how long the part "trajectory" of a prompt may be
    ``replay``              the run whose recorded answers replace the models
    ``certificate``         whether the winner is measured again from its file at the end
    ``overrides``           replace keys of problem.toml; ``shapes`` are those of a module (``problems.small_shapes``)
    ``ask_policy``, ``ask_critic``  how the policy and the critic ask their models
    ``agent``               what a policy ``agent:...`` gets
    ``value``               the folder of a value model; ``draw`` and ``unranked`` as in ``value_guided.Guide``
    ``with_rules``, ``without_rules``  names of rules of the rewriter to use in addition, and to leave out
    ``branch``              of a repository: the branch to make of the winner; empty: none
    ``anyway``              whether to go on although no rule applies, or the tests are too short to time
    ``cluster``             the cluster that measures candidates (``cluster.site``); empty: this machine
    """

    source: Path
    tests: Path | None = None
    policy: str = ""
    method: str = ""
    critic: str = ""
    answer: Answer = "whole"
    without: tuple[str, ...] = ()
    budget: int = 0
    width_for: int = 24
    caps: Caps = field(default_factory=Caps)
    total_seconds: float | None = None
    seed: int = 0
    out: Path | None = None
    models: ModelSettings = field(default_factory=ModelSettings)
    ask_policy: AnswerSettings = field(default_factory=AnswerSettings)
    ask_critic: AnswerSettings = field(default_factory=AnswerSettings)
    agent: AgentSettings = field(default_factory=AgentSettings)
    replay: Path | None = None
    certificate: bool = True
    overrides: Mapping[str, Any] = field(default_factory=dict)
    shapes: str = ""
    value: Path | None = None
    draw: int = 4
    unranked: float = 0.1
    gamma: float = 1.0
    trajectory_tokens: int = TOKENS
    cluster: str = ""
    with_rules: tuple[str, ...] = ()
    without_rules: tuple[str, ...] = ()
    anyway: bool = False
    branch: str = ""

    @property
    def measured_on(self) -> ClusterRequest | None:
        """The cluster that measures candidates; None: this machine."""
        if not self.cluster:
            return None
        from maxcode.evaluate.cluster import ClusterRequest

        return ClusterRequest(self.cluster, bool(self.overrides.get("shared_cores")))


def of_source(request: Request, source: Source) -> Request:
    """The request for one of several problems: the user's settings, over those of its entry in a suite.toml."""
    overrides = merged(source.options, request.overrides)
    return replace(request, source=source.path, overrides=overrides, shapes=request.shapes or source.shapes)


def capped(caps: Caps, budget: Budget) -> Caps:
    """The caps with the budget among them; raises InputError if one amount is limited twice."""
    bounds = {name: bound for name, bound in asdict(budget.caps).items() if bound is not None}
    for name in bounds:
        if getattr(caps, name) is not None:
            raise InputError(f"--budget is of {name}, and --max-{name} is given too; leave one of them out")
    return replace(caps, **bounds)
