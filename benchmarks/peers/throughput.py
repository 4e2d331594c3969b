"""One measurement of throughput in its own process: the bare OpenAI client, or maxcode.

    python benchmarks/peers/throughput.py client|maxcode --url URL --parallel P --count N [--width W]

Prints one JSON object: the end of each call or candidate (seconds on one clock), and the CPU seconds of this process
from the first call on.  The bare client makes N calls, P at a time, and drops the answers.  maxcode runs best-of-n as
for a user, with the journal of calls and the record on disk, and an evaluator that waits 1 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

MODEL = "fixed"
EVALUATION_S = 0.001
PROMPT = "Make this program faster:\n\n```python\nprint(0)\n```\n"


def client(url: str, parallel: int, count: int, width: int) -> list[float]:
    """``count`` calls of the bare client, ``parallel`` at a time; returns the time of each answer."""
    from openai import AsyncOpenAI

    stamps: list[float] = []

    async def calls() -> None:
        asked = iter(range(count))
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as model:

            async def one_after_another() -> None:
                for number in asked:
                    answer = await model.chat.completions.create(
                        model=MODEL, seed=number, messages=[{"role": "user", "content": PROMPT}]
                    )
                    assert answer.choices[0].message.content
                    stamps.append(time.monotonic())

            async with asyncio.TaskGroup() as group:
                for _ in range(parallel):
                    group.create_task(one_after_another())

    asyncio.run(calls())
    return stamps


def maxcode(url: str, parallel: int, count: int, width: int) -> list[float]:
    """``count`` candidates of best-of-n, ``parallel`` model calls at a time; returns the time of each evaluation."""
    from dataclasses import replace

    from maxcode.core.types import Machine
    from maxcode.llm.clients.connect import ModelSettings, recorded
    from maxcode.llm.journal import Journal
    from maxcode.policy.llm import Llm
    from maxcode.run.job import SLOTS_PER_CALL
    from maxcode.run.optimize import Run, optimize
    from maxcode.run.record import Record
    from maxcode.search import BestOfN, methods
    from maxcode.search.scene import Scene
    from maxcode.testing import Table, toy_problem

    stamps: list[float] = []

    async def evaluating(text: str) -> None:
        await asyncio.sleep(EVALUATION_S)
        stamps.append(time.monotonic())

    table = Table(rule=_speed, before=evaluating)
    scene = Scene(Machine("", "", 0, "", {}, ""), asks_model=True)
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal, Record(Path(folder)) as record:
        settings = ModelSettings(base_url=url, concurrency=parallel)
        policy = Llm(recorded(MODEL, settings, journal))
        method = methods.method("best-of-n", policy, count, scene)
        if width:
            method = replace(method, search=BestOfN(count, width))
        run = Run(count, concurrency=SLOTS_PER_CALL * parallel, record=record, spent=lambda: journal.spent)
        result = optimize(toy_problem("print(0)\n"), method, table, run)
    assert result.reached.candidates == count == len(stamps), "a candidate was not evaluated"
    return stamps


def _speed(text: str) -> float:
    """A speed-up between 0.5 and 2.5 that depends on the number in the program."""
    return 0.5 + int("".join(filter(str.isdigit, text)) or 0) % 997 / 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("client", "maxcode"))
    parser.add_argument("--url", required=True, help="base URL of peers/endpoint.py --fixed")
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--width", type=int, default=0, help="batch size of best-of-n (default: the method's own)")
    options = parser.parse_args()
    run = {"client": client, "maxcode": maxcode}[options.what]
    run(
        options.url, options.parallel, options.parallel, options.width
    )  # imports and connections; outside the measurement
    began, spent = time.monotonic(), time.process_time()
    stamps = run(options.url, options.parallel, options.count, options.width)
    json.dump({"began": began, "stamps": stamps, "cpu_s": time.process_time() - spent}, sys.stdout)


if __name__ == "__main__":
    main()
