"""The whole path of a language model, with the served rules at its end: the policy asks over HTTP and reads."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio
import pytest

from maxcode.code.source import fenced
from maxcode.core.types import Action, Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.llm.clients.connect import ModelSettings, connect
from maxcode.policy.llm import Llm
from maxcode.policy.rules.rewriter.policy import propose
from maxcode.serve import Faults, serving
from tests.support.serve_help import READS

pytestmark = pytest.mark.heavy

READER = (Path(__file__).parents[2] / "examples" / "readings" / "slow.cpp").read_text()


def observed(text: str, draw: int) -> Observation:
    sections = (
        Section("Problem", "Be quick.\nlanguage: cpp\nchecker: tokens"),
        Section("Program", fenced(text, "cpp")),
    )
    problem = Problem("p", "program", "cpp", Program({"slow.cpp": text}), ProgramSpec())
    return Observation(sections, State(problem), draw)


async def proposals(policy: Llm, observations: list[Observation]) -> list[Action]:
    return [await policy.propose(one) for one in observations]


@pytest.mark.parametrize("answer", ["whole", "edits"])
@pytest.mark.parametrize("text", [READS, READER], ids=["reads", "readings"])
def test_the_policy_over_http_proposes_what_the_rewriter_proposes(text: str, answer: Literal["whole", "edits"]) -> None:
    observations = [observed(text, draw) for draw in range(6)]
    with serving() as running:
        model = connect("maxcode-rewriter", ModelSettings(base_url=running.base_url), {"OPENAI_API_KEY": "none"})
        made = anyio.run(proposals, Llm(model, answer), observations)
    direct = [propose(one) for one in observations]
    assert [one.program for one in made] == [one.program for one in direct]
    assert all(one.usage.tokens > 100 for one in made)


def test_the_policy_reads_a_program_through_anthropics_api() -> None:
    with serving() as running:
        settings = ModelSettings(provider="anthropic", base_url=running.anthropic_base_url)
        model = connect("maxcode-rewriter", settings, {"ANTHROPIC_API_KEY": "none"})
        (made,) = anyio.run(proposals, Llm(model, thinking_tokens=2048), [observed(READS, 1)])
    assert made.program is not None and "main()" in made.program.text and made.unread == ""


def test_faults_on_the_way_do_not_change_what_is_proposed() -> None:
    observations = [observed(READS, draw) for draw in range(3)]
    with serving(Faults({"429": 0.2, "half": 0.2, "garbage": 0.2}, seed=2)) as running:
        model = connect("maxcode-rewriter", ModelSettings(base_url=running.base_url), {"OPENAI_API_KEY": "none"})
        made = anyio.run(proposals, Llm(model), observations)
        assert running.tally.requests > 3 and running.tally.paid_again == 0
    assert [one.program for one in made] == [propose(one).program for one in observations]
