"""Does a good order of loop transformations beat a random one?

    python benchmarks/orders.py [--problems gemm trsm threemm] [--draws 6] [--seed 0] [--out runs/orders.json]

For each problem, a recipe of named steps is applied in its own order and in random orders.  In a random order, a step
that does not apply in its turn is dropped ("shuffled") or waits until it does ("patient").  Random sequences of as many
steps, sampled by their priors from all steps of the policy `loops`, are compared as well ("random").  The evaluator
measures each final program once against the original, so that every figure is a speed-up with its interval.  The
benchmark takes more than eight minutes on two busy cores.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import final

import anyio

from maxcode.code.cpp.edit import Edit, Value
from maxcode.code.cpp.unit import Unit
from maxcode.core.stats import bootstrap, geometric_mean
from maxcode.core.types import Action, Problem
from maxcode.evaluate.program.evaluator import ProgramEvaluator, open_evaluator
from maxcode.policy.rules.kernels.steps import Permitted, offered
from maxcode.policy.rules.rewriter.runtime import patched
from maxcode.problems import load

EXAMPLES = Path(__file__).parent.parent / "examples"
MOST_SITES = 48  # of one step
NEAR = 0.95  # of the recipe's own speed-up counts as reaching it


@final
@dataclass(frozen=True)
class Named:
    """A step of a recipe, applied at every loop over ``var`` where it is possible ("": everywhere)."""

    rule: str
    var: str = ""
    params: tuple[tuple[str, Value], ...] = ()

    def __str__(self) -> str:
        inside = [*([self.var] if self.var else []), *(f"{name}={value}" for name, value in self.params)]
        return f"{self.rule}({', '.join(inside)})"

    def fits(self, edit: Edit) -> bool:
        var = edit.site.split(" ")[0].split("#")[0]
        return edit.rule == self.rule and self.var in ("", var) and set(self.params) <= set(edit.params)


PRODUCT = (
    Named("accumulate"),
    Named("distribute"),
    Named("order", params=(("loops", "i_p_j"),)),
    Named("jam", "p", (("factor", 8),)),
    Named("jam", "i", (("factor", 2),)),
    Named("tile", "j", (("size", 128),)),
    Named("restrict"),
    Named("simd", "j", (("as", "ivdep"),)),
)
SOLVE = (
    Named("interchange", "j", (("inner", "i"),)),
    Named("accumulate"),
    Named("interchange", "j", (("inner", "p"),)),
    Named("jam", "p", (("factor", 4),)),
    Named("tile", "j", (("size", 128),)),
    Named("restrict"),
    Named("simd", "j", (("as", "ivdep"),)),
)
RECIPES = {"gemm": PRODUCT, "trsm": SOLVE, "threemm": PRODUCT}


@final
@dataclass(frozen=True)
class Made:
    """A program and its origin: the arm, and the applied steps."""

    problem: str
    arm: str
    steps: tuple[str, ...]
    text: str


def followed(problem: Problem, arm: str, steps: Sequence[Named], patient: bool = False) -> Made:
    """The program after the steps in this order, each applied wherever possible in its turn; ``patient``: a step that
    is not possible waits until it is."""
    text, taken, waiting = problem.program.text, list[str](), list[Named]()
    for step in steps:
        text, labels = applied(problem, text, step)
        waiting += [] if labels else [step]
        taken += labels
        while labels and patient:
            labels = []
            for late in list(waiting):
                text, found = applied(problem, text, late)
                waiting = [one for one in waiting if not found or one is not late]
                labels += found
            taken += labels
    return Made(problem.id, arm, tuple(taken), text)


def applied(problem: Problem, text: str, step: Named) -> tuple[str, list[str]]:
    """The text after a step wherever it applies, and the labels of the edits."""
    taken: list[str] = []
    while len(taken) < MOST_SITES:
        unit = Unit(problem.language, text)
        edit = next((edit for _, edits in offered(unit, ALLOWED) for edit in edits if step.fits(edit)), None)
        if edit is None:
            break
        text = patched(unit.data, list(edit.change.patches))
        taken.append(edit.label)
    return text, taken


ALLOWED = Permitted(simd_pragmas=False, templates=False)


def wandered(problem: Problem, arm: str, count: int, draw: random.Random) -> Made:
    """The program after that many steps, sampled by their priors from all possible ones."""
    text, taken = problem.program.text, []
    for _ in range(count):
        unit = Unit(problem.language, text)
        offers = list(offered(unit, ALLOWED))
        if not offers:
            break
        _, edits = draw.choices(offers, [step.rule.prior for step, _ in offers])[0]
        edit = draw.choice(edits)
        text = patched(unit.data, list(edit.change.patches))
        taken.append(edit.label)
    return Made(problem.id, arm, tuple(taken), text)


def programs(name: str, draws: int, seed: int) -> Iterator[Made]:
    """The recipe, its steps in random orders, and random sequences of the same length."""
    problem, recipe, draw = load(EXAMPLES / name).problem, RECIPES[name], random.Random(f"{seed}/{name}")
    own = followed(problem, "recipe", recipe)
    yield own
    orders = {recipe}
    while len(orders) <= draws:
        order = tuple(draw.sample(recipe, len(recipe)))
        if order not in orders:
            orders.add(order)
            yield followed(problem, "shuffled", order)
            yield followed(problem, "patient", order, patient=True)
    for _ in range(draws):
        yield wandered(problem, "random", len(own.steps), draw)


async def measured(evaluator: ProgramEvaluator, made: Made, known: dict[str, dict[str, object]]) -> dict[str, object]:
    """The row of a program; a repeated program gets its earlier row."""
    if made.text not in known:
        problem = load(EXAMPLES / made.problem).problem
        found = await evaluator.evaluate(problem, Action(problem.program.with_text(made.text)))
        timing = found.timing
        same = made.text == problem.program.text
        known[made.text] = {
            "outcome": found.outcome.value,
            "speedup": asdict(timing.speedup) if timing is not None else None,
            "gflops": timing.gflops.value if timing is not None and timing.gflops is not None else None,
            "pairs": timing.pairs if timing is not None else 0,
            "reasons": ["the original"] if same else list(found.feedback.reasons),
        }
    row = {"problem": made.problem, "arm": made.arm, "steps": made.steps, **known[made.text]}
    print(shown(row), file=sys.stderr, flush=True)
    return row


def gain(row: dict[str, object]) -> float:
    """The speed-up of a row; 1, the original's, if the program is not correct."""
    speedup = row["speedup"]
    return float(speedup["value"]) if isinstance(speedup, dict) else 1.0


def shown(row: dict[str, object]) -> str:
    speedup, steps = row["speedup"], row["steps"]
    assert isinstance(steps, tuple)
    told = f"{row['outcome']:>10}"
    if isinstance(speedup, dict):
        told = f"{speedup['value']:6.2f}x [{speedup['low']:.2f}, {speedup['high']:.2f}] {row['gflops']:6.1f} GFLOPS"
    return f"{row['problem']:8} {row['arm']:9} {told:40} {' '.join(steps)}"


def summary(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Per problem and arm: number of programs, lowest, median and highest speed-up, the geometric mean with a bootstrap
    interval, and the number that reach the recipe."""
    found = []
    for problem, arm in dict.fromkeys((row["problem"], row["arm"]) for row in rows):
        recipe = next(gain(row) for row in rows if (row["problem"], row["arm"]) == (problem, "recipe"))
        gains = [gain(row) for row in rows if (row["problem"], row["arm"]) == (problem, arm)]
        mean = bootstrap(gains, geometric_mean) if len(gains) > 1 else None
        found.append(
            {
                "problem": problem,
                "arm": arm,
                "programs": len(gains),
                "least": min(gains),
                "median": median(gains),
                "greatest": max(gains),
                "mean": asdict(mean) if mean is not None else None,
                "reach": sum(one >= NEAR * recipe for one in gains),
            }
        )
    return found


def line(row: dict[str, object]) -> str:
    mean = row["mean"]
    told = f"{mean['value']:.2f} [{mean['low']:.2f}, {mean['high']:.2f}]" if isinstance(mean, dict) else "-"
    return (
        f"{row['problem']:8} {row['arm']:9} {row['programs']:4} {row['least']:8.2f} {row['median']:8.2f} "
        f"{row['greatest']:8.2f} {told:>22} {row['reach']:6}"
    )


async def run(options: argparse.Namespace) -> list[dict[str, object]]:
    evaluator, known = await open_evaluator(), dict[str, dict[str, object]]()
    made = [one for name in options.problems for one in programs(name, options.draws, options.seed)]
    return [await measured(evaluator, one, known) for one in made]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    parser.add_argument("--draws", type=int, default=6, help="random orders, and random sequences, per problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/orders.json"))
    options = parser.parse_args()
    rows = anyio.run(run, options)
    told = summary(rows)
    print(f"{'problem':8} {'arm':9} {'n':>4} {'least':>8} {'median':>8} {'greatest':>8} {'mean':>22} {'reach':>6}")
    print("\n".join(map(line, told)))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"rows": rows, "summary": told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
