"""The discrete-event model: the waiting times in a search, and in a step of GRPO.

    proposal (calls) -> build, verify, profile (builders) -> time (slots)          concurrently in every slot of a batch
    contest: fresh builds, races, confirmation                                     after the batch, one after the other

The order is that of ``batch.py``, the evaluators and the judge.  The searching process handles one thing at a time, and
so does the engine's scheduler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import simpy

from sizing.costs import Costs
from sizing.workload import Contest, Round, Work

Steps = Generator[simpy.Event, Any, None]


@final
@dataclass(frozen=True, slots=True)
class Site:
    """The resources of a run: timing slots; builders (0: a slot builds for itself); concurrent calls of the model;
    concurrent candidates of a run; seconds of the searching process per candidate, and of the scheduler per task;
    seconds that each slot but the first needs to admit the problem before its first candidate."""

    slots: int = 1
    builders: int = 1
    calls: int = 8
    concurrency: int = 16
    driver_s: float = 0.0
    scheduler_s: float = 0.0
    admit_s: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated run: wall seconds, and for each resource the share of them in which it was busy."""

    seconds: float
    candidates: int
    shares: dict[str, float]

    @property
    def per_hour(self) -> float:
        return 3600 * self.candidates / self.seconds


@final
@dataclass(slots=True)
class World:
    """The places of a site in one simulation; ``busy`` counts busy seconds, summed over the places of a kind."""

    site: Site
    costs: Costs
    env: simpy.Environment = field(default_factory=simpy.Environment)
    busy: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    places: dict[str, simpy.Resource] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {name: simpy.Resource(self.env, count) for name, count in self._counts().items()}

    def _counts(self) -> dict[str, int]:
        site = self.site
        return {
            "model": site.calls,
            **({"build": site.builders} if site.builders else {}),
            "slots": site.slots,
            "driver": 1,
            "scheduler": 1,
        }

    def admissions(self) -> Iterator[Steps]:
        """The slots that have not admitted the problem yet."""
        return (self.hold("slots", self.site.admit_s) for _ in range(self.site.slots - 1))

    def hold(self, what: str, seconds: float) -> Steps:
        """Waits for a place and holds it for ``seconds``."""
        if seconds <= 0:
            return
        with self.places[what].request() as asked:
            yield asked
            yield self.env.timeout(seconds)
        self.busy[what] += seconds

    def task(self, what: str, seconds: float) -> Steps:
        """A task of the engine: through the scheduler, to a node and back."""
        yield from self.hold("scheduler", self.site.scheduler_s)
        if self.costs.engine_s:
            yield self.env.timeout(self.costs.engine_s)
        yield from self.hold(what, seconds)

    def candidate(self, work: Work, places: simpy.Resource) -> Steps:
        with places.request() as asked:
            yield asked
            yield from self.hold("model", self.costs.propose_s)
            yield from self.hold("driver", self.site.driver_s)
            if not work.reused:
                yield from self.evaluation(work)

    def evaluation(self, work: Work) -> Steps:
        if not self.site.builders:
            yield from self.task("slots", self.costs.of_building(work) + self.costs.of_timing(work))
            return
        yield from self.task("build", self.costs.of_building(work))
        if work.passes:
            yield from self.task("slots", self.costs.of_timing(work))

    def contest(self, contest: Contest) -> Steps:
        """On one slot, in slot order: the next race needs the winner of the last."""
        began = self.env.now
        ready = self.costs.of_contest(Contest(contest.fresh)) if self.site.builders else 0.0
        yield from self.hold("build", ready)
        yield from self.hold("slots", self.costs.of_contest(contest) - ready)
        self.busy["contest"] += self.env.now - began

    def search(self, rounds: Sequence[Round]) -> Steps:
        """One run: a batch, its contest, the next batch."""
        places = simpy.Resource(self.env, self.site.concurrency)
        for one in rounds:
            yield self.together(self.candidate(work, places) for work in one.works)
            yield from self.contest(one.contest)

    def together(self, steps: Iterator[Steps]) -> simpy.Event:
        return simpy.AllOf(self.env, [self.env.process(one) for one in steps])

    def run(self, steps: Iterator[Steps], candidates: int) -> Simulated:
        """Runs the simulation to its end."""
        for admission in self.admissions():
            self.env.process(admission)
        self.env.run(self.together(steps))
        seconds = float(self.env.now)
        counts = {**self._counts(), "contest": 1}
        shares = {name: self.busy[name] / (seconds * count) for name, count in counts.items()}
        return Simulated(seconds, candidates, shares)


def search(runs: Sequence[Sequence[Round]], costs: Costs, site: Site) -> Simulated:
    """Concurrent runs with given batches."""
    world = World(site, costs)
    return world.run(map(world.search, runs), sum(len(one.works) for rounds in runs for one in rounds))


@final
@dataclass(frozen=True, slots=True)
class Grpo:
    """A step: ``groups`` prompts with ``answers`` each; ``learn_s`` seconds of learning after it; ``whole``: a group is
    timed on one slot, because its answers are compared; ``again``: number of a group's answers timed a second time."""

    groups: int = 16
    answers: int = 8
    learn_s: float = 10.0
    whole: bool = True
    again: int = 1


def step(grpo: Grpo, draw: Callable[[], Work], costs: Costs, site: Site) -> Simulated:
    """One step: all answers are generated, then all are measured, then the model learns."""
    world = World(site, costs)
    nodes = [simpy.Resource(world.env) for _ in range(site.slots)]

    def steps() -> Steps:
        answers = grpo.groups * grpo.answers
        yield world.together(world.hold("model", costs.propose_s) for _ in range(answers))
        yield world.together(_group(world, grpo, draw, nodes[number % len(nodes)]) for number in range(grpo.groups))
        yield from world.hold("driver", grpo.learn_s)

    return world.run(iter([steps()]), grpo.groups * grpo.answers)


def _group(world: World, grpo: Grpo, draw: Callable[[], Work], node: simpy.Resource) -> Steps:
    """The answers of a prompt, then its leaders again."""
    works = [draw() for _ in range(grpo.answers)]
    yield world.together(_measured(world, work, node if grpo.whole else None) for work in works)
    leaders = [work for work in works if work.passes][: grpo.again]
    yield world.together(_timed(world, work, node if grpo.whole else None) for work in leaders)


def _measured(world: World, work: Work, node: simpy.Resource | None) -> Steps:
    yield from world.hold("driver", world.site.driver_s)
    yield from world.task("build", world.costs.of_building(work))
    yield from _timed(world, work, node)


def _timed(world: World, work: Work, node: simpy.Resource | None) -> Steps:
    """Times an answer on the group's node, or on any free one."""
    if not work.passes:
        return
    if node is None:
        yield from world.task("slots", world.costs.of_timing(work))
        return
    with node.request() as asked:
        yield asked
        yield from world.task("slots", world.costs.of_timing(work))
