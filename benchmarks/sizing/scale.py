"""Finds the bottleneck from 10 to 1,000 slots: candidates sampled from recorded ones, on sites of any size."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import final

from sizing.costs import Costs
from sizing.model import Grpo, Simulated, Site, search, step
from sizing.workload import Contest, Recorded, Round, Work

SLOTS = (1, 2, 5, 10, 30, 100, 300, 1000)
USES = ("one search", "one wide search", "many searches", "grpo", "grpo, groups split")


@final
@dataclass(frozen=True, slots=True)
class Sizes:
    """The resources apart from the slots.  ``width`` and ``batches`` of a search; ``builders_each``: builders per slot;
    ``calls``: concurrent calls of the model; ``driver_s`` and ``scheduler_s`` as in ``Site``."""

    width: int = 8
    batches: int = 3
    builders_each: float = 3.0
    calls: int = 64
    driver_s: float = 0.003
    scheduler_s: float = 0.001
    grpo: Grpo = field(default_factory=Grpo)
    slots_factor: int = 1

    def site(self, slots: int, concurrency: int) -> Site:
        return Site(
            slots, max(1, round(slots * self.builders_each)), self.calls, concurrency, self.driver_s, self.scheduler_s
        )


@final
@dataclass(frozen=True, slots=True)
class Pool:
    """The source of sampled candidates; ``confirmation`` is a typical one."""

    works: tuple[Work, ...]
    confirmation: Contest

    @staticmethod
    def of(runs: Sequence[Recorded]) -> Pool:
        rounds = [one for run in runs for one in run.rounds]
        held = [one.contest for one in rounds if one.contest.confirmed] or [Contest()]
        passes = round(fmean(one.passes for one in held))
        usual = Contest(confirmed=1, passes=passes, beside=fmean(one.beside for one in held))
        return Pool(tuple(work for one in rounds for work in one.works), usual)

    def rounds(self, width: int, batches: int, chance: random.Random) -> Iterator[Round]:
        """Batches of a search; who contends is decided by the intervals that were drawn, as the loop does."""
        best = 0.0
        for _ in range(batches):
            works = tuple(chance.choices(self.works, k=width))
            bar = max(best, max(work.low for work in works))
            challengers = sum(work.high >= bar > 0 for work in works)
            yield Round(works, self._contest(challengers, best > 0) if challengers else Contest())
            best = bar

    def _contest(self, challengers: int, incumbent: bool) -> Contest:
        fresh = challengers + incumbent
        return replace(self.confirmation, fresh=fresh, races=fresh - 1)


def scaled(use: str, scale: int, pool: Pool, costs: Costs, sizes: Sizes) -> Simulated:
    """One use with this number of slots; the site has them unless ``sizes.slots_factor`` says otherwise."""
    chance = random.Random(0)  # the same draws at all scales
    slots = scale * sizes.slots_factor
    if use.startswith("grpo"):
        grpo = replace(sizes.grpo, whole=use == "grpo")
        return step(grpo, lambda: chance.choice(pool.works), costs, sizes.site(slots, grpo.groups * grpo.answers))
    wide, many = use == "one wide search", use == "many searches"
    width = sizes.width * max(1, scale // 4 if wide else 1)
    runs = [list(pool.rounds(width, sizes.batches, chance)) for _ in range(2 * scale if many else 1)]
    return search(runs, costs, sizes.site(slots, width))


CHANGES: dict[str, Callable[[Costs, Sizes], tuple[Costs, Sizes]]] = {
    "slots": lambda costs, sizes: (costs, replace(sizes, slots_factor=2, builders_each=sizes.builders_each / 2)),
    "builders": lambda costs, sizes: (costs, replace(sizes, builders_each=2 * sizes.builders_each)),
    "model calls": lambda costs, sizes: (costs, replace(sizes, calls=2 * sizes.calls)),
    "model speed": lambda costs, sizes: (replace(costs, propose_s=costs.propose_s / 2), sizes),
    "speed of contests": lambda costs, sizes: (_contests_halved(costs), sizes),
    "width": lambda costs, sizes: (costs, _wider(sizes)),
    "scheduler": lambda costs, sizes: (costs, replace(sizes, scheduler_s=sizes.scheduler_s / 2)),
    "driver": lambda costs, sizes: (costs, replace(sizes, driver_s=sizes.driver_s / 2)),
    "learning": lambda costs, sizes: (
        costs,
        replace(sizes, grpo=replace(sizes.grpo, learn_s=sizes.grpo.learn_s / 2)),
    ),
}


def _contests_halved(costs: Costs) -> Costs:
    return replace(costs, contest_factor=costs.contest_factor / 2)


def _wider(sizes: Sizes) -> Sizes:
    """Twice the candidates of a batch, or of a step."""
    return replace(sizes, width=2 * sizes.width, grpo=replace(sizes.grpo, groups=2 * sizes.grpo.groups))


@final
@dataclass(frozen=True, slots=True)
class Sized:
    """A use at a scale; ``gains``: the ratio of candidates per hour with twice of one resource, or with one resource
    twice as fast, the best first."""

    found: Simulated
    gains: dict[str, float]


def sized(use: str, scale: int, pool: Pool, costs: Costs, sizes: Sizes) -> Sized:
    """Simulates it unchanged, and with each change separately: the largest gain shows the bottleneck."""
    found = scaled(use, scale, pool, costs, sizes)
    gains = {}
    for name, change in CHANGES.items():
        gains[name] = scaled(use, scale, pool, *change(costs, sizes)).per_hour / found.per_hour
    return Sized(found, dict(sorted(gains.items(), key=lambda one: -one[1])))
