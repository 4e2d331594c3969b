"""What the prompts of a large repository say once, and what they say of the critic's profile, commands and advice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maxcode.core.types import Action, Facts, HotFunction, Machine, Program, State, Step, TimedInput
from maxcode.observe import best, program, trajectory
from maxcode.observe.about import about_machine
from maxcode.observe.critique.critic_prompt import Setting, messages, user_text
from maxcode.observe.critique.critique_answer import CritiqueAnswer, read
from maxcode.observe.known import fact_lines
from maxcode.observe.part import sentences
from maxcode.problems import load
from tests.observe.test_repository_parts import DOT, HOT, LARGE, MACHINE, RIGHT, SMALL, problem, reached_by

FIRST, SECOND = "    double s = 0.0;", "    int i = 0;"
ONCE = Program({**LARGE, "src/dot.c": DOT.replace("    double s = 0;", FIRST)})
TWICE = Program({**LARGE, "src/dot.c": ONCE.files["src/dot.c"].replace("    for (int i = 0;", f"{SECOND}\n    for (;")})
SHOWN = frozenset({"program", "best"})
GIVEN = problem(LARGE)
ROOT = State(GIVEN)
ONE = State(GIVEN, ROOT, Step(Action(ONCE, "one"), RIGHT, 2.0, "Sum in pairs."), (1, 0))
TWO = State(GIVEN, ONE, Step(Action(TWICE, "two"), RIGHT, 3.0, "Move i."), (2, 0))


def prompt(state: State, shown: frozenset[str] = SHOWN) -> str:
    parts = (trajectory(shown=shown), program(original_shown=True))
    found = [part(state, reached_by(state, ONE, TWO)) for part in parts]
    return "\n".join(one.text for one in found if one is not None)


def test_a_change_to_the_original_stands_once_in_a_prompt() -> None:
    told = prompt(ONE)
    assert (
        TWO.step is not None and told.count(f"+{FIRST}") == 1 and 'its change to the original: see "Program".' in told
    )
    later = prompt(TWO)
    assert 'Its change, as far as it is still there, is part of that under "Program".' in later
    assert later.count(f"+{FIRST}") == 1, "in the change under Program alone"
    assert later.count(f"+{SECOND}") == 2, "what the step did, and what the program is"
    assert prompt(ONE, frozenset()).count(f"+{FIRST}") == 2, "where no other section is known to show it"


def test_the_best_is_told_as_the_program_without_the_last_step() -> None:
    assert TWO.step is not None
    slower = State(GIVEN, ONE, replace(TWO.step, reward=1.5), (2, 1))
    reached = reached_by(slower, ONE, slower)
    found = best(program_shown=True, trajectory_shown=True)(slower, reached)
    assert found is not None and found.text.splitlines()[0] == (
        'The fastest program of this path is that of step 1: that under "Program" without the change of step 2, which '
        '"Trajectory" shows.'
    )
    assert prompt(slower).count(f"+{SECOND}") == 2, "it does"
    alone = best(program_shown=True)(slower, reached)
    assert alone is not None and f"+{FIRST}" in alone.text


def test_earlier_advice_is_said_to_be_followed_perhaps() -> None:
    told = prompt(TWO)
    assert "Advice after it, which later steps may have followed already: Sum in pairs." in told
    assert "\nMove i." in told, "the newest advice is not followed yet"
    assert ROOT.step is None and ONE.step is not None and TWO.step is not None
    history = sections(user_text(GIVEN, TWO.step, ONE.step, Setting()))["Previous step"]
    assert "which the new program may have followed already:\nSum in pairs." in history
    assert "advice" not in sections(user_text(GIVEN, ONE.step, None, Setting()))["Previous step"]


def sections(text: str) -> dict[str, str]:
    parts = text.split("\n# ")
    return {head: rest.strip() for head, _, rest in (part.partition("\n") for part in parts)}


def test_a_critic_reads_a_change_once_with_the_commands_and_a_short_benchmark() -> None:
    assert ONE.step is not None
    facts = Facts(hot=HOT, benchmark=(("bench/run.c", "int main(void) { return 0; }\n"),))
    found = sections(user_text(GIVEN, ONE.step, None, Setting(MACHINE, facts)))
    assert found["Previous program"] == "The original program."
    assert found["New program"].count(f"+{FIRST}") == 1 and "hot functions" in found["Original program"]
    for line in ("Make the benchmark of this repository faster.", "build: make", "tests: make test", "bench"):
        assert line in found["Problem"]
    assert "what the benchmark runs, bench/run.c:\n```\nint main(void)" in found["Problem"]
    long = replace(facts, benchmark=(("bench/run.c", "int x;\n" * 3000),))
    assert "int x;" not in user_text(GIVEN, ONE.step, None, Setting(MACHINE, long))


def test_a_critic_of_a_repository_is_asked_for_no_line_and_told_the_rules_of_one() -> None:
    assert ONE.step is not None
    for given in (GIVEN, problem(SMALL)):
        system, user = (one.text for one in messages(given, ONE.step, None))
        for words in ("line:", '"line"', "checker", "rounding", "`line`"):
            assert words not in system + user, words
        assert '{"diagnosis": "...", "bottleneck": "...", "steps"' in system
        assert "- After every step the repository must still do what it does in base" in system
    slow = load(Path(__file__).parents[2] / "examples/caesar").problem
    system = messages(slow, Step(Action(slow.program, "x"), RIGHT, 1.0), None)[0].text
    assert '"bottleneck": "...", "line": 12, "steps"' in system and "Other\n  roundings" in system
    named = '{"diagnosis": "x", "bottleneck": "limit", "line": 7}'
    found = read(named, 0)
    assert isinstance(found, CritiqueAnswer) and found.line is None


@pytest.mark.parametrize("of", ["new", "previous", "base"])
def test_a_critic_is_told_of_which_program_a_profile_is(of: str) -> None:
    assert ONE.step is not None and TWO.step is not None
    own = (HotFunction("src/dot.c", "twice", 3, 0.9),)
    now = replace(TWO.step, evaluation=replace(RIGHT, hot=own if of == "new" else ()))
    before = replace(ONE.step, evaluation=replace(RIGHT, hot=own if of == "previous" else ()))
    found = sections(user_text(GIVEN, now, before, Setting(MACHINE, Facts(hot=HOT))))
    named = {"new": "the new program", "previous": "the previous program", "base": "base, the original program"}[of]
    assert f"calls, in {named}:" in found["Profile"]
    assert ("has no profile of its own" in found["Profile"]) == (of != "new")
    assert ("src/dot.c, lines 5 to" in found["New program"]) == (of == "base"), "the texts are those of that profile"


def test_the_time_in_base_says_when_it_was_taken_and_no_instructions_are_told_that_the_build_leaves_out() -> None:
    [line, *_] = fact_lines(GIVEN, Facts(timed=(TimedInput(0.1813),)))
    assert line == (
        "the benchmark takes 181.3 ms in base, timed before the search; a race times both anew; compare ratios alone"
    )
    here = Machine("node", "Example CPU", 2, "Linux 6.1", {}, isa=("avx2", "avx512f"), sandbox="tier 1")
    plain, tuned = "GNU C17 -march=x86-64 -O2", "g++ -march=native"
    assert "avx" not in "\n".join(about_machine(here, problem(SMALL), Facts(tools=(plain,))))
    assert "instruction sets: avx2, avx512f" in about_machine(here, problem(SMALL), Facts(tools=(tuned,)))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Short.", "Short."),
        ("One thing is joined. Rules with groups are left out here", "One thing is joined."),
        ("lexer: the rules are joined to one; each has a name and a group", "lexer: the rules are joined to one"),
        (
            "a long line without any end of a part of it in all its length",
            "a long line without any end of a part [...]",
        ),
        ("x" * 60, f"{'x' * 40} [...]"),
    ],
)
def test_a_line_is_cut_at_a_sentence_or_a_word(line: str, told: str) -> None:
    assert sentences(line, 40) == told
