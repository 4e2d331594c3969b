"""maxcode in one page: a scripted policy, a toy evaluator, a search.  No compiler, no model; runs in a second.

The "program" is a number of unrolled steps; the evaluator knows that 8 is best.  Everything else is the real thing:
the loop, the record, the observation, the search.  Run: python examples/tiny.py
"""

from maxcode import Action, Method, Observation, Outcome, Program, Run, optimize
from maxcode.observe import best, compose, program, statement, trajectory
from maxcode.search import CudaLlm
from maxcode.testing import Table, toy_problem


class DoubleOrHalve:
    """A policy: pure in the observation, its only chance is the draw."""

    async def propose(self, observation: Observation) -> Action:
        unroll = int(observation.state.program.text)
        factor = [0.5, 2, 4][observation.draw % 3]
        text = str(max(1, int(unroll * factor)))
        return Action(Program({"toy.py": text}), completion=f"unroll {unroll} -> {text}")


def speedup(text: str) -> float | None:
    """What the machine would measure: too much unrolling spills, and 64 breaks the program."""
    return {1: 1.0, 2: 1.3, 4: 1.7, 8: 2.1, 16: 1.9, 32: 1.1}.get(int(text))


method = Method(
    policy=DoubleOrHalve(),
    search=CudaLlm(width=4, depth=4),
    observe=compose(statement(), program(), best(), trajectory()),
)
result = optimize(toy_problem("1"), method, Table(rule=speedup), Run(budget=16, seed=1))

for state in result.reached:
    if state.step is not None:
        mark = "*" if state == result.best else " "
        shown = f"{state.reward:.1f}x" if state.outcome is Outcome.CORRECT else state.outcome.value
        print(f"{mark} {state.id}  depth {state.depth}  {state.step.action.completion:16} {shown}")
assert result.best is not None
print(f"best: unroll {result.best.program.text}, {result.best.reward}x")
