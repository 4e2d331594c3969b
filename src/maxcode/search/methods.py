"""The methods: compositions of search, observation and instructions under one name, plain or with ``+maxcode``.

A plain method shows what its own paper shows.  ``+maxcode`` adds the three parts of MaxCode: the best of the path (u),
the trajectory and the critiques; ours adds the best of the run and what failed in it.  Width and depth follow from the
budget, so that 64 candidates give the paper's 8 x 8.  The width stays that of the first budget (the ``shape``) when a
run is resumed with another.  The temperature is 0.6, as in MaxCode, except where a method's own paper differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import final

from maxcode.core.history import Reached
from maxcode.core.method import Method
from maxcode.core.roles import Critic, Observe, Policy, Search
from maxcode.core.types import Action, Facts, Observation, Outcome, State
from maxcode.errors import unknown
from maxcode.llm.prompts import template
from maxcode.observe import (
    PARTS,
    Part,
    beat_best,
    best,
    branches,
    compose,
    critiques,
    economy,
    failing_test,
    failures,
    feedback,
    hot_functions,
    improve,
    machine,
    measured,
    profile,
    program,
    run_best,
    setting,
    slowest_test,
    statement,
    task,
    trajectory,
    unless_at_floor,
)
from maxcode.observe.critique import LlmCritic, RuleCritic
from maxcode.observe.instructions import Instruct
from maxcode.search import frames
from maxcode.search.frames import Frame
from maxcode.search.perfcodegen import phase
from maxcode.search.presets import OURS, PAPER, PRESETS
from maxcode.search.ranking import By
from maxcode.search.scene import QUOTED_AT_MOST, Scene
from maxcode.search.value_guided import VALUE, base, guided_policy, variants

PLUS = "+maxcode"
USUAL_BUDGET = 24  # candidates, where neither the user nor a preset says how many
_OF_REPOSITORIES = ("profile", "economy")
ADDED = ("best", "run_best", "trajectory", "critiques", "failures", "branches", "failing_test")


@final
@dataclass(frozen=True, slots=True)
class Recipe:
    """One method: ``search`` makes its search for a frame, ``parts`` are the parts it shows, in the order of the
    prompt.

    ``source`` names its origin; ``departs`` says how its observation differs from that (how its search differs is in
    the search's own module).  ``temperatures``: of the first proposals, from the original, and of all later ones.
    """

    name: str
    line: str
    search: Callable[[Frame], Search]
    parts: tuple[str, ...]
    source: str
    departs: str = ""
    instruct: Instruct = improve
    temperatures: tuple[float, float] = (0.6, 0.6)

    @property
    def is_paper(self) -> bool:
        """Whether it is a preset, ``METHOD/paper``."""
        return base(self.name).endswith(PAPER)

    def shows(self, part: str) -> bool:
        """Whether the method shows a part; a critic that costs money is worth asking only if it shows "critiques"."""
        return part in self.parts

    def explained(self) -> str:
        """What the method is, its source, the parts it shows and its departures, one line each."""
        departs = f"departs: {self.departs}" if self.departs else ""
        told = (self.line, f"source: {self.source}", departs, f"shows: {_marked(self.parts)}")
        return "\n".join(line for line in told if line)


# ------------------------------------------------------------------------------------------- instructions by the phase


def _by_profile(state: State, reached: Reached) -> str:
    return template("task_profile").substitute()


def _by_later_profile(state: State, reached: Reached) -> str:
    """MaxCode's first state holds no profile, and its second program may be wrong."""
    told = improve if state.parent is None or state.outcome is not Outcome.CORRECT else _by_profile
    return told(state, reached)


def _by_phase(state: State, reached: Reached) -> str:
    match phase(state, reached):
        case "faster":
            return template("task_reduce").substitute()
        case "slowest":
            return template("task_slowest").substitute()
        case _:
            return improve(state, reached)


# ------------------------------------------------------------------------------------------------------------ recipes

_USUAL = ("statement", "machine", "measured", "program", "feedback", "task")

RECIPES = (
    Recipe(
        "best-of-n",
        "independent proposals from the original",
        frames.best_of_n,
        ("statement", "machine", "measured", "program", "task"),
        "flat sampling, MaxCode's baseline",
    ),
    Recipe(
        "refine",
        "one path, each proposal from the last",
        frames.refine,
        _USUAL,
        "plain self-refinement, the shape of MaxCode's training rollouts",
    ),
    Recipe(
        "effi-learner",
        "one path guided by the profile; only a better program replaces the stored one",
        frames.effi_learner,
        ("statement", "program", "profile", "failures", "task"),
        "Effi-Learner (arXiv 2405.15189); 2 rounds in MaxCode, 5 in its repository, here by the budget",
        "the profile is of CPU time by line, without memory; no test is quoted; the results of all proposals from the "
        "stored program are shown, not only of the last one",
        instruct=_by_profile,
    ),
    Recipe(
        "perfcodegen",
        "samples; failed ones are repaired with the failing test; correct ones are made faster, then once more with "
        "the slowest seen test quoted",
        frames.perfcodegen,
        ("statement", "program", "feedback", "failing_test", "slowest_test", "task"),
        "PerfCodeGen (arXiv 2412.03578): temperature 0.7, and 0 when refining",
        f"inputs are quoted up to {QUOTED_AT_MOST} bytes; the texts of the performance questions are ours",
        instruct=_by_phase,
        temperatures=(0.7, 0.0),
    ),
    Recipe(
        "cuda-llm",
        "greedy beam with repair: the fastest correct child of each level is expanded next",
        frames.cuda_llm,
        ("statement", "machine", "measured", "trajectory", "program", "feedback", "task"),
        "CUDA-LLM (arXiv 2506.09092) as MaxCode states it",
        "its dialogue history is the trajectory without critiques; MaxCode's own baseline has none: switch it off",
    ),
    Recipe("beam", "the best few correct ones of each level are expanded together", frames.beam, _USUAL, "ours"),
    Recipe(
        "tree",
        "UCT on the best reward below a node, with progressive widening",
        frames.tree,
        _USUAL,
        "UCT (Kocsis and Szepesvari, 2006) on the max-reward objective; ours",
    ),
    Recipe(
        "elites",
        "MAP-Elites: one elite per set of techniques, parents selected uniformly among them",
        frames.elites,
        _USUAL,
        "MAP-Elites, after Staged Quality-Diversity (arXiv 2602.12049), whose details are not published",
    ),
    Recipe(
        "sqd",
        "elites in stages: more techniques are permitted once a stage's batches are valid and no longer better",
        frames.sqd,
        _USUAL,
        "Staged Quality-Diversity (arXiv 2602.12049) as a search; its stages and promotion are ours",
    ),
)


def names() -> dict[str, str]:
    """The name of every method with one line about it."""
    plain = {one.name: one.line for one in RECIPES}
    more = {name + PLUS: f"{line}; with MaxCode's {_marked(ADDED)}" for name, line in plain.items()}
    return {**plain, **more, **{name: one.line for name, one in PRESETS.items()}}


def _marked(parts: Iterable[str]) -> str:
    """The parts, those that are ours with a star."""
    return ", ".join(f"{part}*" if part in OURS else part for part in parts)


def explained() -> dict[str, str]:
    """The name of every plain method and of every preset with its full explanation, and of every ``+maxcode`` method
    with what it adds."""
    plain = {one.name: one.explained() for one in RECIPES}
    more = {name + PLUS: f"{name}, showing {_marked(ADDED)} too" for name in plain}
    return {**plain, **more, **{name: recipe(name).explained() for name in PRESETS}}


def candidates(name: str, asked: int = 0) -> int:
    """The budget of a run of the method ``name`` in candidates.  A preset has its own, which ``asked`` can only make
    smaller; ``asked`` = 0: nothing was asked."""
    preset = PRESETS.get(base(name))
    if preset is None:
        return asked or USUAL_BUDGET
    return min(preset.budget, asked or preset.budget)


def recipe(name: str, without: frozenset[str] = frozenset()) -> Recipe:
    """The recipe called ``name``, ``without`` some of its parts; a part that the method does not show may be named
    too.  A guided variant (``value_guided``) shows what its method shows.  InputError with the nearest spelling for an
    unknown method or part."""
    plain = base(name)
    if name not in (known := [*names(), *variants(names())]):
        raise unknown("method", name, known, "`maxcode list methods` lists all")
    for part in sorted(without):
        if part not in PARTS:
            raise unknown("part", part, PARTS)
    found = next(one for one in RECIPES if one.name == plain.removesuffix(PAPER).removesuffix(PLUS))
    if plain in PRESETS:
        return _preset(name, found, without)
    added = ADDED if plain.endswith(PLUS) else ()
    parts = tuple(part for part in PARTS if part in (*found.parts, *added) and part not in without)
    return replace(found, name=name, line=names()[plain], parts=parts)


def _preset(name: str, found: Recipe, without: frozenset[str]) -> Recipe:
    preset = PRESETS[base(name)]
    return replace(
        found,
        name=name,
        line=f"{preset.line}; {preset.budget} candidates",
        search=preset.search,
        parts=tuple(part for part in PARTS if part in preset.parts and part not in without),
        source="MaxCode (arXiv 2601.05475)",
        departs=preset.departs,
        instruct=_by_later_profile if "profile" in preset.parts else found.instruct,
    )


_RULES = RuleCritic()


def method(name: str, policy: Policy, budget: int, scene: Scene, critic: Critic = _RULES) -> Method:
    """The method called ``name`` for a budget of candidates.

    ``critic`` is asked if the method shows critiques; otherwise the rule critic, which costs nothing, writes them for
    the record.  InputError with the nearest spelling for an unknown name, and if the method needs a value model and the
    scene has none.
    """
    made = _for_repository(recipe(name, scene.without), scene)
    asked = critic if made.shows("critiques") else _RULES
    if isinstance(asked, LlmCritic):
        asked = replace(asked, machine=scene.machine, facts=scene.facts)
    if not isinstance(asked, RuleCritic):  # the original is diagnosed by the critic that was chosen, or by none
        scene = replace(scene, original=scene.facts.growth)
    policy = guided_policy(name, policy, scene.guide)
    if made.temperatures != (0.6, 0.6):
        policy = Tempered(policy, *made.temperatures)
    by: By = "value" if name.endswith(VALUE) else "reward"
    return Method(
        policy,
        made.search(Frame(budget, scene.shape or budget, scene.asks_model, by)),
        observing(made, scene, budget),
        asked,
        scene.guide.value if scene.guide is not None else None,
        gamma=scene.gamma,
        critiques="expanded" if scene.pays_critic and scene.guide is None and not made.is_paper else "all",
    )


def _for_repository(made: Recipe, scene: Scene) -> Recipe:
    """The recipe; on a repository one of ours shows the profile too, because the files are many, and what is left to
    win, because candidates are few."""
    if made.is_paper or not _is_of_repository(scene.facts):
        return made
    more = [part for part in _OF_REPOSITORIES if part not in scene.without]
    return replace(made, parts=tuple(part for part in PARTS if part in (*made.parts, *more)))


def _is_of_repository(facts: Facts) -> bool:
    return bool(facts.hot or facts.benchmark or facts.base)


def observing(made: Recipe, scene: Scene, budget: int = USUAL_BUDGET) -> Observe:
    """What a method shows of a state, in a run of a budget of candidates."""
    return compose(*(_part(part, made, scene, budget) for part in made.parts))


@final
@dataclass(frozen=True, slots=True)
class Tempered:
    """A policy at the temperatures of its method: ``first`` for proposals from the original, ``later`` for all
    others."""

    policy: Policy
    first: float
    later: float

    async def propose(self, observation: Observation) -> Action:
        temperature = self.first if observation.state.parent is None else self.later
        return await self.policy.propose(replace(observation, temperature=temperature))


def _part(name: str, made: Recipe, scene: Scene, budget: int) -> Part:
    """The part called ``name`` as this method shows it."""
    plus = base(made.name).endswith(PLUS)
    makers: dict[str, Callable[[], Part]] = {
        "statement": statement,
        "program": lambda: program(original_shown=made.shows("statement")),
        "setting": lambda: setting(scene.machine, scene.facts),
        "machine": lambda: machine(scene.machine, scene.facts),
        "measured": lambda: measured(scene.facts, scene.test),
        "profile": lambda: (
            hot_functions(scene.facts.hot, scene.facts.benchmark)
            if _is_of_repository(scene.facts)
            else profile(None if made.is_paper else scene.baseline)
        ),
        "feedback": feedback,
        "failing_test": lambda: failing_test(scene.inputs),
        "slowest_test": lambda: slowest_test(
            scene.inputs, scene.baseline, lambda state, reached: phase(state, reached) == "slowest"
        ),
        "best": lambda: best(made.shows("program"), made.shows("trajectory")),
        "run_best": lambda: run_best(best_shown=made.shows("best")),
        "trajectory": lambda: trajectory(
            scene.trajectory_tokens,
            critiques="earlier" if made.shows("critiques") else "none",
            shown=frozenset(made.parts),
        ),
        "critiques": lambda: critiques("" if made.is_paper else scene.original),
        "failures": lambda: failures(run=plus),
        "branches": branches,
        "economy": lambda: economy(scene.facts, budget),
        "task": lambda: task(_instruct(made) if made.is_paper else unless_at_floor(_instruct(made), scene.facts)),
    }
    return makers[name]()


def _instruct(made: Recipe) -> Instruct:
    """The instruction of a method; it speaks of the best program only if that is shown."""
    return beat_best if made.instruct is improve and made.shows("best") else made.instruct
