"""A search whose policy and critic are asked over HTTP, on the table evaluator: python llm_driver.py FOLDER URL BUDGET.

Says "ready" when it starts to ask, and leaves one line in FOLDER/evaluated for every program it evaluates.
"""

from __future__ import annotations

import sys
from pathlib import Path

from maxcode.core.method import Method
from maxcode.llm.clients.connect import ModelSettings, recorded
from maxcode.llm.journal import Journal
from maxcode.observe import best, compose, critiques, program, statement, trajectory
from maxcode.observe.critique import LlmCritic, RuleCritic
from maxcode.policy.llm import Llm
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import CudaLlm
from maxcode.testing import Table, toy_problem

MODEL = "maxcode-fixed"
ANSWER = "```python\nx = {draw}\n```"


def speed(text: str) -> float | None:
    draw = int(text.split("=")[1])
    return None if draw % 4 == 0 else 0.5 + draw % 500 / 250


def main(folder: str, base_url: str, budget: str) -> None:
    where = Path(folder)

    async def before(text: str) -> None:
        print(text.strip(), file=log, flush=True)

    with Record(where) as record, Journal(where) as journal, open(where / "evaluated", "a") as log:
        model = recorded(MODEL, ModelSettings(base_url=base_url, concurrency=6, timeout_s=2, attempts=10), journal)
        observe = compose(statement(), program(), best(), trajectory(), critiques())
        method = Method(Llm(model), CudaLlm(width=6, depth=100), observe, LlmCritic(model, RuleCritic()))
        print("ready", flush=True)
        run = Run(int(budget), concurrency=6, record=record, spent=lambda: journal.spent)
        result = optimize(toy_problem("x = 0\n"), method, Table(rule=speed, before=before), run)
    print(result.reached.candidates)


if __name__ == "__main__":
    main(*sys.argv[1:])
