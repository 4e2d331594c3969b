"""Writes docs/reference/prompts.md: the prompts of a real search at depth 3, as they would be sent.

    python scripts/prompts.py [--example examples/caesar] [--out docs/reference/prompts.md]

The search is `cuda-llm+maxcode` with nine candidates.  No language model is asked: the built-in rules answer in its
place, so the earlier answers and critiques in the prompts are theirs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import anyio

from maxcode.code.source import fenced
from maxcode.core.types import Action, Facts, Machine, Observation, Problem, StateId, Step
from maxcode.evaluate.target import LocalMachine
from maxcode.llm import prompts
from maxcode.llm.clients import Message
from maxcode.llm.journal import NoModel
from maxcode.observe.critique import RuleCritic
from maxcode.observe.critique.critic_prompt import Setting, messages
from maxcode.policy.llm import Llm
from maxcode.policy.rules.rewriter import Rewriter
from maxcode.problems import load
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record
from maxcode.search import methods
from maxcode.search.scene import admitted_scene

BUDGET = 9
Prompt = tuple[Message, ...]

PAGE = """# Prompts

This page shows what a language model is asked. The templates are in `src/maxcode/llm/prompts/`, one Markdown
file each. Their hash goes into the `run.toml` of every run (`prompts`). `maxcode optimize ... --dry-run` prints
the first prompt of your own run.

`python scripts/prompts.py` writes this page. Templates: `{digest}`. It shows one prompt of the policy at depth
{depth} and one of the critic, in full, as they were sent in a search of `{example}` with the method
`cuda-llm+maxcode` and nine candidates. The built-in rules answered in the place of a language model. So the
words of earlier answers and critiques are those of the rules.

## The policy at depth {depth}

{policy}

## The critic

{critic}
"""


@final
@dataclass(frozen=True, slots=True)
class AskedPolicy:
    """The rewriter; keeps what a language model would be asked in its place."""

    asked: list[Prompt] = field(default_factory=list)

    async def propose(self, observation: Observation) -> Action:
        self.asked.append(Llm(NoModel()).request(observation).messages)
        return await Rewriter().propose(observation)


@final
@dataclass(slots=True)
class AskedCritic:
    """The rules; keeps what a language model would be asked in their place."""

    asked: list[Prompt] = field(default_factory=list)
    machine: Machine | None = None
    facts: Facts = field(default_factory=Facts)

    async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
        return await self.critique_beside(problem, step, previous, ())

    async def critique_beside(self, problem: Problem, step: Step, previous: Step | None, beside: Sequence[str]) -> str:
        if step.action.program is not None:
            self.asked.append(messages(problem, step, previous, Setting(self.machine, self.facts, beside)))
        return await RuleCritic().critique(problem, step, previous)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", type=Path, default=Path("examples/caesar"))
    parser.add_argument("--out", type=Path, default=Path("docs/reference/prompts.md"))
    options = parser.parse_args()
    policy, critic = AskedPolicy(), AskedCritic()
    with tempfile.TemporaryDirectory() as run:
        searched(options.example, Path(run), policy, critic)
        depth = depth_of(Path(run))
    page = PAGE.format(digest=prompts.digest(), depth=depth, example=options.example,
                       policy=shown(at(depth, policy.asked)), critic=shown(critic.asked[-1]))  # fmt: skip
    options.out.write_text(page)


def searched(example: Path, folder: Path, policy: AskedPolicy, critic: AskedCritic) -> None:
    """The search, recorded in a folder."""
    evaluator, found, machine = anyio.run(LocalMachine().prepare, load(example).problem)
    scene = admitted_scene(machine, found.problem, found.baseline, facts=found.facts)
    critic.machine, critic.facts = machine, found.facts
    method = methods.method("cuda-llm+maxcode", policy, BUDGET, scene, critic)
    with Record(folder) as record:
        optimize(found.problem, method, evaluator, Run(BUDGET, machine=machine, record=record), referee=evaluator)


def depth_of(run: Path) -> int:
    """The greatest depth that the search reached."""
    with Record(run) as record:
        depths: dict[StateId, int] = {(0, 0): 0}
        for batch, line in sorted(record.batches.items()):
            depths |= {(batch, slot): depths[parent] + 1 for slot, parent in enumerate(line.parents)}
    return max(depths.values())


def at(depth: int, asked: list[Prompt]) -> Prompt:
    """The longest prompt of the policy at a depth."""
    return max((one for one in asked if f"Step {depth - 1}" in one[1].text), key=lambda one: len(one[1].text))


def shown(prompt: Prompt) -> str:
    return "\n\n".join(f"{message.role.capitalize()}:\n\n{fenced(message.text, 'text')}" for message in prompt)


if __name__ == "__main__":
    main()
