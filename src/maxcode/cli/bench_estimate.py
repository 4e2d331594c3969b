"""``maxcode bench --dry-run``: the estimated cost of every method, from the first problems of the bench."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import final

import msgspec

from maxcode.cli.bench_plan import Plan
from maxcode.core.budget import MANY
from maxcode.evaluate.target import where
from maxcode.run.dry_run import estimate_of
from maxcode.run.estimate import Estimate, total

LOOKED_AT = 3  # problems whose originals are built and timed for the estimate


@final
@dataclass(frozen=True, slots=True)
class BenchEstimate:
    """``methods``: the cost of all runs of each method, as many as ``runs`` says; it was found on the problems
    ``looked_at`` of ``problems``, and the others count as their mean."""

    methods: Mapping[str, Estimate]
    runs: Mapping[str, int]
    candidates: Mapping[str, int]
    looked_at: tuple[str, ...]
    problems: int

    @property
    def whole(self) -> Estimate:
        return total([(one, 1.0) for one in self.methods.values()])

    def as_json(self) -> str:
        return msgspec.json.encode({**asdict(self), "whole": asdict(self.whole)}).decode()

    def as_text(self) -> str:
        """One line for each method, then the whole bench."""
        width = max(len(name) for name in self.methods)
        lines = [
            f"{name:<{width}}  {self.runs[name]} runs of {self.candidates[name]} candidates: {one.words()}"
            for name, one in self.methods.items()
        ]
        seen = f"estimated on {len(self.looked_at)} of {self.problems} problems: {', '.join(self.looked_at)}"
        return "\n".join([*lines, f"{'all':<{width}}  {self.whole.words()}", seen])


def estimate_of_bench(plan: Plan) -> BenchEstimate:
    """The estimated cost of a bench that is not run; asks no model."""
    cells, run = plan.planned.cells, plan.run()
    names = tuple(dict.fromkeys(cell.problem for cell in cells))
    seed = min(cell.seed for cell in cells)
    found: dict[str, list[Estimate]] = {}
    with where(plan.shared.measured_on) as target:
        for cell in cells:
            if cell.problem in names[:LOOKED_AT] and cell.seed == seed:
                found.setdefault(cell.method, []).append(estimate_of(run.request(cell), target))
    runs = Counter(cell.method for cell in cells)
    share = {method: runs[method] / len(many) for method, many in found.items()}
    methods = {method: total([(one, share[method]) for one in many]) for method, many in found.items()}
    most = {method: plan.planned.candidates(method) for method in methods}
    candidates = {method: count if count < MANY else plan.shared.width_for for method, count in most.items()}
    return BenchEstimate(methods, dict(runs), candidates, names[:LOOKED_AT], len(names))
