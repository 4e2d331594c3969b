"""The estimated cost of a run: the run is played through in memory, with imagined answers and imagined measurements.

The search, the observation and the wrappers are those of the run, so prompts grow as they will.  Imagined are the
programs (longer than the original), the critiques, the thinking and the results.  Three plays give the bounds: short
answers that all work, the usual, and long answers that mostly fail.  Tokens are a quarter of the bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from maxcode.code.source import fenced
from maxcode.core.budget import MANY
from maxcode.core.roles import Policy
from maxcode.core.types import (
    Action,
    Evaluation,
    Feedback,
    Interval,
    Observation,
    Outcome,
    Problem,
    Timing,
    Usage,
)
from maxcode.llm.clients import Completion, Message, ModelRequest
from maxcode.llm.clients.command import AGENT
from maxcode.llm.clients.connect import estimate_tokens, price_of
from maxcode.llm.clients.openai import ALLOWANCE, reasons
from maxcode.llm.clients.prices import Price
from maxcode.observe.critique import LlmCritic
from maxcode.policy.llm import Llm
from maxcode.run.admission import Admission
from maxcode.run.method_parts import MethodParts, method_of, scene_of
from maxcode.run.names import models_asked
from maxcode.run.optimize import Run, optimize
from maxcode.run.request import Request
from maxcode.search.value import ValueRoles
from maxcode.search.value.baselines import Constant


@final
@dataclass(frozen=True, slots=True)
class Play:
    """One way in which a run may go.

    ``works``     the share of candidates that are correct
    ``answer``    the length of a program, as a share of the original's, and ``more`` tokens: fast versions of short
                  programs spell out vectors, buffers and cases (in examples/recorded some 2,400 tokens)
    ``notes``, ``critique``  in tokens
    ``thinks``    the share of the permitted thinking that is used
    ``reasoning`` tokens of a model that reasons before it answers, if no setting limits it
    ``detailed``  whether results come with remarks, a profile and results of tests, as the original's do
    """

    works: float
    answer: float
    more: int
    notes: int
    critique: int
    thinks: float
    reasoning: int
    detailed: bool = True


_LINE = "int another_line_of_the_program_{:08};\n"
LOW = Play(1.0, 0.75, 0, 20, 100, 0.25, 500, detailed=False)
USUAL = Play(0.7, 1.1, 2_400, 80, 250, 0.5, 4_000)
HIGH = Play(0.4, 1.75, 5_000, 250, 500, 1.0, ALLOWANCE)


@final
@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may cost; ``dollars`` is None if the price of a model is not known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def times(self, count: float) -> Spending:
        """The cost of so many such runs."""
        dollars = None if self.dollars is None else self.dollars * count
        return Spending(
            round(self.calls * count),
            round(self.prompt_tokens * count),
            round(self.completion_tokens * count),
            dollars,
        )


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """The least, the expected and the highest cost.  These are no limits: ``--max-dollars`` is one, and they are not
    above it; ``cap``: that limit, if the run may reach it.  ``by_agent``: the policy is a coding agent, whose calls are
    not in the figures, because nobody knows them before; then there is no price."""

    low: Spending = field(default_factory=Spending)
    expected: Spending = field(default_factory=Spending)
    high: Spending = field(default_factory=Spending)
    cap: float | None = field(default=None, kw_only=True)
    by_agent: bool = field(default=False, kw_only=True)

    def within(self, cap: float | None) -> Estimate:
        """The estimate of a run that ends when it has cost ``cap`` dollars."""
        if cap is None or self.high.dollars is None or self.high.dollars <= cap:
            return self
        low, expected, high = (
            replace(one, dollars=min(one.dollars or 0.0, cap)) for one in (self.low, self.expected, self.high)
        )
        return Estimate(low, expected, high, cap=cap)

    def words(self) -> str:
        """In words, without the number of candidates."""
        if self.by_agent:
            critic = f"; the critic makes {self._amount()}" if self.expected.calls else ""
            return f"each a session of the coding agent, whose calls and price cannot be estimated{critic}"
        if not self.expected.calls:
            return "the policy and the critic are no language models, so the run makes no calls"
        return f"{self._amount()}, {self._money()}"

    def _amount(self) -> str:
        calls = _span(self.low.calls, self.expected.calls, self.high.calls)
        tokens = _span(self.low.tokens, self.expected.tokens, self.high.tokens)
        return f"about {calls} model calls, {tokens} tokens"

    def _money(self) -> str:
        low, expected, high = self.low.dollars, self.expected.dollars, self.high.dollars
        if low is None or expected is None or high is None:
            return "price unknown"
        ends = "" if self.cap is None else f"; the cap ends it at ${self.cap:g}"
        return f"${expected:.2g} (${low:.2g} to ${high:.2g}{ends})"


def total(estimates: Sequence[tuple[Estimate, float]]) -> Estimate:
    """The cost of several runs, each so many times."""

    def summed(parts: Sequence[Spending]) -> Spending:
        dollars = [part.dollars for part in parts if part.dollars is not None]
        return Spending(
            sum(part.calls for part in parts),
            sum(part.prompt_tokens for part in parts),
            sum(part.completion_tokens for part in parts),
            sum(dollars) if len(dollars) == len(parts) else None,
        )

    return Estimate(
        summed([one.low.times(count) for one, count in estimates]),
        summed([one.expected.times(count) for one, count in estimates]),
        summed([one.high.times(count) for one, count in estimates]),
        by_agent=any(one.by_agent for one, _ in estimates),
    )


def estimated(request: Request, parts: MethodParts, admission: Admission) -> Estimate:
    """The cost of the run of a complete request; asks no model and runs no candidate."""
    if not models_asked(request.policy, request.critic):
        return Estimate()
    found = [_played(play, request, parts, admission) for play in (LOW, USUAL, HIGH)]
    # a play of failures may have shorter prompts, so the bounds are those of all three
    by_agent = request.policy.startswith(AGENT)
    whole = Estimate(_bound(found, min), found[1], _bound(found, max), by_agent=by_agent)
    return whole.within(request.caps.dollars)


def _bound(found: Sequence[Spending], of: Callable[[Iterable[float]], float]) -> Spending:
    """The least or the highest of each figure."""
    dollars = [one.dollars for one in found if one.dollars is not None]
    return Spending(
        round(of(one.calls for one in found)),
        round(of(one.prompt_tokens for one in found)),
        round(of(one.completion_tokens for one in found)),
        of(dollars) if len(dollars) == len(found) else None,
    )


def _played(play: Play, request: Request, parts: MethodParts, admission: Admission) -> Spending:
    named = dict(zip(_roles(request), models_asked(request.policy, request.critic), strict=True))
    prices = {role: price_of(name, request.models) for role, name in named.items()}
    counted = {role: _Counted(prices[role], play, name) for role, name in named.items()}
    problem = admission.admitted.problem
    length = sum(estimate_tokens(text) for text in problem.program.files.values())
    asks = parts.policy if isinstance(parts.policy, Llm) else None
    policy: Policy = _Imagined(asks, counted.get("policy"), round(play.answer * length) + play.more, play.notes)
    critic = parts.critic
    if isinstance(critic, LlmCritic):
        critic = replace(critic, model=counted["critic"])
    value = ValueRoles(Constant(1.0)) if parts.value is not None else None
    imagined = replace(parts, policy=policy, critic=critic, value=value)
    count = request.budget if request.budget < MANY else request.width_for
    scene = scene_of(request, admission, parts)
    method = method_of(replace(request, budget=count), imagined, scene)
    optimize(problem, method, _Measured(play, admission.admitted.baseline), Run(count, request.seed))
    spent = sum((one.usage for one in counted.values()), Usage())
    dollars = None if request.policy.startswith(AGENT) else spent.dollars
    return Spending(spent.calls, spent.prompt_tokens, spent.completion_tokens, dollars)


def _roles(request: Request) -> list[str]:
    asked = {"policy": request.policy, "critic": request.policy if request.critic == "llm" else request.critic}
    return [role for role, name in asked.items() if models_asked(name, "")]


@final
class _Counted:
    """A model that counts what it would be asked, and answers with a critique."""

    def __init__(self, price: Price | None, play: Play, name: str) -> None:
        self.usage = Usage()
        self._price, self._play = price, play
        self._reasons = reasons(name)
        self._asked = Counter[tuple[Message, ...]]()

    async def complete(self, request: ModelRequest) -> Completion:
        self.count(request, self._play.critique)
        size = self._play.critique
        told = {
            "diagnosis": _words(size * 0.4),
            "bottleneck": "algorithm",
            "line": 1,
            "steps": [_words(size * 0.2)] * 3,
        }
        return Completion(json.dumps(told), Usage())

    def count(self, request: ModelRequest, answer: int) -> Usage:
        """Counts a request and its answer of so many tokens, with its thinking."""
        thought = self._play.thinks * request.thinking_tokens
        if self._reasons and not request.thinking_tokens:
            thought = self._play.reasoning
        prompt = sum(estimate_tokens(said.text) for said in request.messages)
        completion = round(min(answer, request.max_tokens) + thought)
        dollars = self._dollars(request, prompt, completion)
        used = Usage(1, prompt, completion, 0.0, dollars)
        self.usage += used
        return used

    def _dollars(self, request: ModelRequest, prompt: int, completion: int) -> float | None:
        """The price, with that of the provider's cache for a prompt that is asked again."""
        if self._price is None:
            return None
        before = self._asked[request.messages]
        self._asked[request.messages] += 1
        if not before or not self._price.knows_cache:
            return self._price.dollars(prompt, completion)
        return self._price.dollars(prompt, completion, *((0, prompt) if before == 1 else (prompt, 0)))


@final
@dataclass(frozen=True, slots=True)
class _Imagined:
    """A policy whose programs are the original with more lines, up to ``length`` tokens, of which the first half is in
    all of them; ``asks`` makes the requests that are counted."""

    asks: Llm | None
    counted: _Counted | None
    length: int
    notes: int

    async def propose(self, observation: Observation) -> Action:
        usage = Usage()
        if self.asks is not None and self.counted is not None:
            usage = self.counted.count(self.asks.request(observation), self.length + self.notes)
        problem = observation.state.problem
        name = problem.program.name
        text = f"{problem.program.files[name]}\nint drawn_{observation.draw};\n"
        missing = max(0, self.length - estimate_tokens(text)) * 4 // len(_LINE)
        text += "".join(
            _LINE.format(number if 2 * number < missing else observation.draw % 9973 * 10_000 + number)
            for number in range(missing)
        )
        program = type(problem.program)({**problem.program.files, name: text})
        return Action(program, f"- {_words(self.notes)}\n{fenced(text, problem.language)}", usage)


@final
@dataclass(frozen=True, slots=True)
class _Measured:
    """An evaluator whose results depend on the text of a program alone."""

    play: Play
    baseline: Evaluation

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        assert action.program is not None
        drawn = int.from_bytes(hashlib.sha256(action.program.digest.encode()).digest()[:4]) / 2**32
        if drawn >= self.play.works:
            return Evaluation(Outcome.WRONG, Feedback(("the output of a test is not that of the original " * 3,)))
        gain = 1.05 + drawn
        timing = Timing("cpu", Interval(gain, gain * 0.98, gain * 1.02), True, "faster", pairs=24, confirmed=True)
        if not self.play.detailed:
            return Evaluation(Outcome.CORRECT, timing=timing)
        return replace(self.baseline, outcome=Outcome.CORRECT, timing=timing, warnings=())


def _words(tokens: float) -> str:
    """A text of about so many tokens."""
    return " ".join(["word"] * max(1, round(tokens * 4 / 5)))


def _span(low: int, expected: int, high: int) -> str:
    return f"{expected}" if low == expected == high else f"{expected} ({low} to {high})"
