"""Named compositions of search and observation; plain, or ``+maxcode``.

A plain method shows what its own paper shows.  ``+maxcode`` adds the paper's three parts, the best of the path (u), the
trajectory and the critiques; ours adds the best of the run and what failed in it.  The budget is the one dial: width
and depth follow from it, so that 64 candidates give the paper's 8 x 8; the width stays that of the first budget (the
``shape``) when a run is resumed with another.  The temperature is the paper's 0.6, except
where a method's own paper says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Critic, Policy, Search
from maxcode.core.types import Action, Evaluation, Machine, Observation, Problem, State
from maxcode.errors import InputError, unknown
from maxcode.llm.prompts import template
from maxcode.observe import (
    PARTS,
    Part,
    best,
    compose,
    critiques,
    failing_test,
    failures,
    feedback,
    improve,
    machine,
    profile,
    program,
    run_best,
    slowest_test,
    statement,
    task,
    trajectory,
)
from maxcode.observe.critique import RuleCritic, diagnose
from maxcode.search import Beam, BestOfN, CudaLlm, EffiLearner, Elites, PerfCodeGen, Refine, Tree
from maxcode.search.perfcodegen import phase
from maxcode.search.ranking import By
from maxcode.search.stages import USUAL as STAGES
from maxcode.search.stages import Promotion
from maxcode.search.value_guided import VALUE, Guide, base, guided_policy, variants

PLUS = "+maxcode"
ADDED = ("best", "run_best", "trajectory", "critiques", "failures")
QUOTED_AT_MOST = 1000  # bytes of a test's input


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """What a method may tell its policy beside the states, and what it may not.

    ``original`` is the diagnosis of the original program, ``baseline`` its evaluation; ``inputs`` holds what is quoted
    of the seen tests, by name; ``without`` names parts (``observe.PARTS``) that are switched off.  ``shape`` is the
    budget that the search's width follows from, where a run began with another one; ``asks_model``: see ``Frame``;
    ``guide`` is the value model, which every state is shown to where there is one.
    """

    machine: Machine
    original: str = ""
    baseline: Evaluation | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    shape: int | None = None
    asks_model: bool = False
    guide: Guide | None = None


def scene(described: Machine, problem: Problem, baseline: Evaluation, without: frozenset[str] = frozenset()) -> Scene:
    """The scene of an admitted problem, whose original was evaluated as ``baseline``; reads the seen tests' inputs."""
    told = "\n".join(diagnose(problem.program, baseline))
    inputs = {case.name: _quote(Path(case.stdin)) for case in problem.spec.seen}
    return Scene(described, told, baseline, inputs, without)


Instruct = Callable[[State, Reached], str]


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """One method: ``search`` makes its search for a frame, ``parts`` are what it shows,
    in the order of the prompt.

    ``source`` says where it comes from, ``departs`` where what it shows differs from there (how its search differs is
    in the search's own module).  ``temperatures``: of the first proposals, from the original, and of all later ones.
    """

    name: str
    line: str
    search: Callable[[Frame], Search]
    parts: tuple[str, ...]
    source: str
    departs: str = ""
    instruct: Instruct = improve
    temperatures: tuple[float, float] = (0.6, 0.6)

    def shows(self, part: str) -> bool:
        """Whether a part is shown; a critic that costs money is worth asking only where "critiques" is."""
        return part in self.parts

    def explained(self) -> str:
        """What the method is, where it comes from, what it shows and where it departs, one line each."""
        departs = f"departs: {self.departs}" if self.departs else ""
        told = (self.line, f"source: {self.source}", departs, f"shows: {', '.join(self.parts)}")
        return "\n".join(line for line in told if line)


# ----------------------------------------------------------------------------------------------------------- searches


@final
@dataclass(frozen=True, slots=True)
class Frame:
    """What a search is cut to: the ``budget`` of candidates, the ``shape`` (the budget that the run began with),
    whether a model is asked, whose answers take long, and what it goes ``by``."""

    budget: int
    shape: int
    asks_model: bool = False
    by: By = "reward"

    @property
    def generation(self) -> int:
        """As many batches as candidates in one, and no more than 8 of those."""
        return max(1, min(8, round(math.sqrt(self.shape))))


def _best_of_n(frame: Frame) -> Search:
    """A batch waits for its slowest answer, so a model is asked for all at once.  Built-in policies take small ones:
    only what earlier batches proposed is known not to be worth proposing again."""
    return BestOfN(n=frame.budget, width=min(frame.budget, frame.shape) if frame.asks_model else 8)


def _refine(frame: Frame) -> Search:
    return Refine(depth=frame.budget)


def _effi_learner(frame: Frame) -> Search:
    return EffiLearner(rounds=frame.budget)


def _perfcodegen(frame: Frame) -> Search:
    """A sample that works at once takes three candidates, one that never works takes two."""
    return PerfCodeGen(base=max(1, frame.shape // 3))


def _cuda_llm(frame: Frame) -> Search:
    width = max(1, round(math.sqrt(frame.shape)))
    return CudaLlm(width=width, depth=math.ceil(frame.budget / width), by=frame.by)


def _beam(frame: Frame) -> Search:
    side = max(1, round(frame.shape ** (1 / 3)))
    return Beam(width=side, children=side, by=frame.by)


def _tree(frame: Frame) -> Search:
    return Tree(width=frame.generation, by=frame.by)


def _elites(frame: Frame) -> Search:
    return Elites(width=frame.generation)


def _sqd(frame: Frame) -> Search:
    """A batch is a visit, and a run has a dozen of them: promotion comes sooner than in training."""
    return Elites(width=frame.generation, stages=replace(STAGES, promotion=_SOON))


_SOON = Promotion(validity=0.5, patience=1, least=2)


# ------------------------------------------------------------------------------------------- instructions by the phase


def _by_profile(state: State, reached: Reached) -> str:
    return template("task_profile").substitute()


def _by_phase(state: State, reached: Reached) -> str:
    match phase(state, reached):
        case "faster":
            return template("task_reduce").substitute()
        case "slowest":
            return template("task_slowest").substitute()
        case _:
            return improve(state, reached)


# ------------------------------------------------------------------------------------------------------------ recipes

_USUAL = ("statement", "program", "machine", "feedback", "task")

RECIPES = (
    Recipe(
        "best-of-n",
        "independent proposals from the original",
        _best_of_n,
        ("statement", "program", "machine", "task"),
        "flat sampling, MaxCode's baseline",
    ),
    Recipe(
        "refine",
        "one path, each proposal from the last",
        _refine,
        _USUAL,
        "plain self-refinement, the shape of MaxCode's training rollouts",
    ),
    Recipe(
        "effi-learner",
        "one path guided by the profile; only a program that is better takes the stored one's place",
        _effi_learner,
        ("statement", "program", "profile", "failures", "task"),
        "Effi-Learner (arXiv 2405.15189); MaxCode runs it for 2 rounds, its repository for 5, here the budget does",
        "the profile is of CPU time by line, with no memory in it; no test is quoted; what came of proposals from the "
        "stored program is told for all of them, not for the last alone",
        instruct=_by_profile,
    ),
    Recipe(
        "perfcodegen",
        "samples; failed ones are mended with the failing test; correct ones are asked to be faster, then again with "
        "the slowest seen test quoted",
        _perfcodegen,
        ("statement", "program", "feedback", "failing_test", "slowest_test", "task"),
        "PerfCodeGen (arXiv 2412.03578): temperature 0.7, and 0 when refining",
        f"inputs are quoted up to {QUOTED_AT_MOST} bytes; the performance questions are in words of our own",
        instruct=_by_phase,
        temperatures=(0.7, 0.0),
    ),
    Recipe(
        "cuda-llm",
        "greedy beam with repair: the fastest correct child of each level goes on",
        _cuda_llm,
        ("statement", "program", "machine", "feedback", "trajectory", "task"),
        "CUDA-LLM (arXiv 2506.09092) as MaxCode states it",
        "its dialogue history is the trajectory without critiques; MaxCode's own baseline has none: switch it off",
    ),
    Recipe("beam", "the best few correct ones of each level go on together", _beam, _USUAL, "ours"),
    Recipe(
        "tree",
        "UCT on the best reward below a node, with progressive widening",
        _tree,
        _USUAL,
        "UCT (Kocsis and Szepesvari, 2006) on the max-reward objective; ours",
    ),
    Recipe(
        "elites",
        "MAP-Elites: one elite per set of techniques, parents drawn over all of them",
        _elites,
        _USUAL,
        "MAP-Elites, after Staged Quality-Diversity (arXiv 2602.12049), whose details are not published",
    ),
    Recipe(
        "sqd",
        "elites in stages: which techniques are permitted widens when a stage's batches are valid and no longer better",
        _sqd,
        _USUAL,
        "Staged Quality-Diversity (arXiv 2602.12049) as a search; its stages and promotion are not published, ours",
    ),
)


def names() -> dict[str, str]:
    """Every method's name with one line about it."""
    plain = {one.name: one.line for one in RECIPES}
    return {**plain, **{name + PLUS: f"{line}; with MaxCode's {', '.join(ADDED)}" for name, line in plain.items()}}


def explained() -> dict[str, str]:
    """Every plain method's name with all there is to say about it, and every ``+maxcode`` one's with what it adds."""
    plain = {one.name: one.explained() for one in RECIPES}
    return {**plain, **{name + PLUS: f"{name}, showing {', '.join(ADDED)} too" for name in plain}}


def recipe(name: str, without: frozenset[str] = frozenset()) -> Recipe:
    """The recipe called ``name``, ``without`` some of its parts; InputError with the nearest spelling for unknown
    names of either.  A part that the method does not show may be named too.  A guided variant (``guided``) shows what
    its method shows."""
    plain = base(name)
    if name not in (known := [*names(), *variants(names())]):
        raise unknown("method", name, known)
    for part in sorted(without):
        if part not in PARTS:
            raise unknown("part", part, PARTS)
    found = next(one for one in RECIPES if one.name == plain.removesuffix(PLUS))
    added = ADDED if plain.endswith(PLUS) else ()
    parts = tuple(part for part in PARTS if part in (*found.parts, *added) and part not in without)
    return replace(found, name=name, line=names()[plain], parts=parts)


_RULES = RuleCritic()


def method(name: str, policy: Policy, budget: int, scene: Scene, critic: Critic = _RULES) -> Method:
    """The method called ``name`` for a budget of candidates; InputError with the nearest spelling otherwise, or where
    it asks a value model and the scene has none.

    ``critic`` is asked where the method shows critiques; where it does not, the rule critic, which costs nothing,
    writes them for the record.
    """
    made = recipe(name, scene.without)
    asked = critic if made.shows("critiques") else _RULES
    policy = guided_policy(name, policy, scene.guide)
    if made.temperatures != (0.6, 0.6):
        policy = Tempered(policy, *made.temperatures)
    by: By = "value" if name.endswith(VALUE) else "reward"
    return Method(
        policy,
        made.search(Frame(budget, scene.shape or budget, scene.asks_model, by)),
        compose(*(_part(part, made, scene) for part in made.parts)),
        asked,
        scene.guide.value if scene.guide is not None else None,
    )


@final
@dataclass(frozen=True, slots=True)
class Tempered:
    """A policy at its method's temperatures: ``first`` for proposals from the original, ``later`` for all others."""

    policy: Policy
    first: float
    later: float

    async def propose(self, observation: Observation) -> Action:
        temperature = self.first if observation.state.parent is None else self.later
        return await self.policy.propose(replace(observation, temperature=temperature))


def _part(name: str, made: Recipe, scene: Scene) -> Part:
    """The part called ``name`` as this method shows it."""
    plus = base(made.name).endswith(PLUS)
    makers: dict[str, Callable[[], Part]] = {
        "statement": statement,
        "program": program,
        "machine": lambda: machine(scene.machine),
        "profile": lambda: profile(scene.baseline),
        "feedback": feedback,
        "failing_test": lambda: failing_test(scene.inputs),
        "slowest_test": lambda: slowest_test(scene.inputs, scene.baseline, _asks_for_slowest),
        "best": lambda: best(program_shown=made.shows("program")),
        "run_best": lambda: run_best(best_shown=made.shows("best")),
        "trajectory": lambda: trajectory(critiques="earlier" if made.shows("critiques") else "none"),
        "critiques": lambda: critiques(scene.original, limit=1 if made.shows("trajectory") else 4),
        "failures": lambda: failures(run=plus),
        "task": lambda: task(made.instruct),
    }
    return makers[name]()


def _asks_for_slowest(state: State, reached: Reached) -> bool:
    return phase(state, reached) == "slowest"


def _quote(path: Path) -> str:
    """The beginning of a test's input, and how much more there is."""
    try:
        with path.open("rb") as file:
            data = file.read(QUOTED_AT_MOST)
        more = path.stat().st_size - len(data)
    except OSError as error:
        raise InputError(f"cannot read the test file {path}: {error.strerror}") from error
    text = data.decode(errors="replace")
    return f"{text}\n[... {more} more bytes]" if more > 0 else text
