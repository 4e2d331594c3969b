"""The policy reads the sections of its observation, and nothing but them and the draw."""

from __future__ import annotations

import re
from collections import Counter

import anyio
import pytest

from maxcode.code.cpp.unit import Unit
from maxcode.code.source import fenced, normalise
from maxcode.core.types import Action, Checker, Observation, Problem, Program, ProgramSpec, Section, State
from maxcode.llm.completion import read
from maxcode.policy.rules.rewriter import Rewriter
from maxcode.policy.rules.rewriter.notes import diagnosis, experience, trials
from maxcode.policy.rules.rewriter.policy import HEADER
from maxcode.policy.rules.rewriter.rules import edits
from tests.support.rewriter_help import edits_of, text_of

LABEL = re.compile(r"^- (\w+\([^()]*\)): ", re.MULTILINE)
STATEMENT = Section("Problem", "Make it faster.\nlanguage: cpp\nflags: -O3\nchecker: tokens\n")
SMALL = """#include <iostream>
#include <map>
using namespace std;
map<int, int> seen;
int twice(int k) { return 2 * k; }
int main() {
    int n;
    cin >> n;
    for (int i = 0; i < n; i++) seen[twice(i) % 7]++;
    cout << seen.size() << endl;
}
"""


def observed(*sections: Section, text: str = SMALL, draw: int = 1, language: str = "cpp") -> Observation:
    name = {"cpp": "slow.cpp", "c": "slow.c", "python": "slow.py"}[language]
    problem = Problem("p", "program", language, Program({name: text}), ProgramSpec(checker=Checker()))
    told = (STATEMENT, Section("Program", fenced(text, language)), *sections)
    return Observation(told, State(problem), draw)


def without(observation: Observation, title: str) -> Observation:
    kept = tuple(section for section in observation.sections if section.title != title)
    return Observation(kept, observation.state, observation.draw, observation.temperature)


def propose(observation: Observation) -> Action:
    return anyio.run(Rewriter().propose, observation)


def proposed(*sections: Section, draws: int = 40, text: str = SMALL) -> Counter[str]:
    """How often each edit is proposed over many draws."""
    found: Counter[str] = Counter()
    for draw in range(draws):
        found.update(LABEL.findall(propose(observed(*sections, text=text, draw=draw * 7919)).completion))
    return found


def by_rule(found: Counter[str]) -> Counter[str]:
    rules: Counter[str] = Counter()
    for label, count in found.items():
        rules[label.split("(")[0]] += count
    return rules


# ------------------------------------------------------------------------------------------------------ the proposal


def test_a_proposal_is_notes_and_one_whole_program() -> None:
    action = propose(observed())
    assert action.completion.splitlines()[0] == HEADER
    assert 1 <= len(LABEL.findall(action.completion)) <= 3
    assert action.program is not None
    assert action.program.name == "slow.cpp"
    assert read(action.completion, Program({"slow.cpp": SMALL}), "cpp") == action.program
    assert normalise("cpp", action.program.text) != normalise("cpp", SMALL)


def test_the_notes_say_where_and_why() -> None:
    notes = [line for line in propose(observed()).completion.splitlines() if line.startswith("- ")]
    assert all(re.fullmatch(r"- \w+\(.*\): (line \d+: )?.+ \(.+\)", line) for line in notes)


def test_the_same_draw_gives_the_same_proposal() -> None:
    assert propose(observed(draw=5)) == propose(observed(draw=5))


@pytest.mark.heavy
def test_other_draws_mostly_give_other_proposals() -> None:
    texts = {propose(observed(draw=draw)).completion for draw in range(0, 40000, 1000)}
    assert len(texts) > 30


@pytest.mark.heavy
def test_one_to_three_edits_are_made() -> None:
    counts = Counter(len(LABEL.findall(propose(observed(draw=draw)).completion)) for draw in range(0, 60000, 1000))
    assert set(counts) == {1, 2, 3}


@pytest.mark.heavy
def test_a_low_temperature_keeps_to_the_best_priors() -> None:
    def rules(temperature: float) -> Counter[str]:
        found: Counter[str] = Counter()
        for draw in range(40):
            base = observed(draw=draw)
            asked = Observation(base.sections, base.state, draw * 31, temperature)
            found.update(LABEL.findall(propose(asked).completion)[:1])
        return by_rule(found)

    assert rules(0.1)["fast_in"] + rules(0.1)["fast_out"] > rules(2.0)["fast_in"] + rules(2.0)["fast_out"]


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_where_no_rule_applies_the_program_stays_and_the_notes_say_so(language: str) -> None:
    text = "def f(q):\n    q.pop(0)\n" if language == "python" else "int x;\n"
    told = Section("Problem", f"language: {language}\nchecker: tokens")
    base = observed(text=text, language=language)
    action = propose(Observation((told, *base.sections[1:]), base.state, 1))
    assert action.program == Program({base.state.problem.program.name: text})
    assert "No rule applies" in action.completion
    assert ("\nf: popleft does not apply in line 2, because" in action.completion) is (language == "python")
    assert HEADER in action.completion


def test_the_program_comes_from_its_section_not_from_the_state() -> None:
    other = SMALL.replace("seen", "counts")
    base = observed(text=SMALL)
    told = (STATEMENT, Section("Program", fenced(other, "cpp")))
    program = propose(Observation(told, base.state, 3)).program
    assert program is not None
    assert "counts" in program.text


def test_without_a_program_section_the_problem_or_the_state_must_do() -> None:
    base = without(observed(), "Program")
    program = propose(base).program
    assert program is not None
    assert "seen" in program.text
    told = Section("Problem", f"language: cpp\n{fenced(SMALL.replace('seen', 'counts'), 'cpp')}")
    program = propose(Observation((told,), base.state, 3)).program
    assert program is not None
    assert "counts" in program.text


@pytest.mark.heavy
def test_inexact_rules_wait_for_a_tolerance() -> None:
    text = text_of("inexact.cpp")
    tolerant = Section("Problem", "language: cpp\nchecker: float (tolerance 1e-06 absolute, 1e-09 relative)")
    base = observed(text=text)
    loose = [propose(Observation((tolerant, *base.sections[1:]), base.state, draw * 31)) for draw in range(25)]
    strict = proposed(text=text, draws=40)
    inexact = {"split_sum", "product_pow", "fast_math"}
    assert not inexact & set(by_rule(strict))
    assert inexact & {label.split("(")[0] for action in loose for label in LABEL.findall(action.completion)}


# ------------------------------------------------------------------------------------------------------ the sections


@pytest.mark.heavy
def test_what_failed_alone_is_not_proposed_again_while_failures_are_told() -> None:
    failures = Section("Failures", "Step 1:\n- fast_in(buffer=65536): line 8: reads (prior 80)\n=> unbuilt: error")
    assert by_rule(proposed())["fast_in"] > 5
    assert by_rule(proposed(failures))["fast_in"] == 0


@pytest.mark.heavy
def test_what_failed_in_company_is_tried_alone() -> None:
    failures = Section(
        "Failures",
        "- fast_in(buffer=65536): reads (prior 80)\n- fast_out(buffer=65536): writes (prior 70)\n=> wrong: test 1",
    )
    seen = 0
    for draw in range(60):
        labels = LABEL.findall(propose(observed(failures, draw=draw * 7919)).completion)
        suspects = [label for label in labels if label.startswith("fast_")]
        seen += len(suspects)
        assert not suspects or len(labels) == 1
    assert seen > 0


def test_a_trial_that_worked_clears_a_suspect() -> None:
    failures = Section("Failures", "- fast_in(buffer=65536): x (y)\n- memoise(f, bits=10): x (y)\n=> crashed: SIGSEGV")
    best = Section(
        "Best", "- fast_in(buffer=16384): x (y)\n=> correct, speedup 1.40x [1.35, 1.45]\n```cpp\nint main() {}\n```"
    )
    known = experience(observed(failures, best))
    assert known.failed == {"memoise(f)"}
    assert known.suspects == frozenset()


def test_a_combination_that_failed_is_not_repeated() -> None:
    base = observed(draw=11)
    labels = LABEL.findall(propose(base).completion)
    told = "\n".join(f"- {label}: x (y)" for label in labels)
    again = propose(observed(Section("Failures", f"{told}\n=> wrong: test 1"), draw=11))
    assert LABEL.findall(again.completion) != labels


@pytest.mark.heavy
def test_what_hurt_is_proposed_less_and_what_helped_more() -> None:
    plain = by_rule(proposed(draws=40))["hash_table"]
    notes = "- hash_table(seen, table=pooled, load=75, first=16): x (y)\n"
    slower = by_rule(proposed(Section("Failures", f"{notes}=> correct, speedup 0.40x [0.39, 0.41]"), draws=40))
    faster = by_rule(proposed(Section("Best of the run", f"{notes}=> correct, speedup 3.00x [2.90, 3.10]"), draws=40))
    assert slower["hash_table"] < plain < faster["hash_table"]


def test_a_trajectory_is_read_as_gains_from_step_to_step() -> None:
    text = (
        "Step 1:\n- fast_in(buffer=65536): x (y)\n=> correct, speedup 2.00x [1.9, 2.1]\nCritique words.\n\n"
        "Step 2:\n- hash_table(seen, table=pooled, load=75, first=16): x (y)\n=> correct, speedup 1.00x [0.9, 1.1]\n\n"
        "Step 3:\n- tile(j#1 in main around i, size=16): x (y)\n=> timeout: 10 s"
    )
    assert [trial.gain for trial in trials(text, in_sequence=True)] == [2.0, 0.5, None]
    assert [trial.gain for trial in trials(text, in_sequence=False)] == [2.0, 1.0, None]


@pytest.mark.heavy
def test_the_critique_points_to_lines() -> None:
    told = Section("Critique", "Step 1: Correct.\n52% of the time is spent at line 9 (main): `seen[...]++`")
    there = {e.label for _, offered in edits(Unit("cpp", SMALL)) for e in offered if (9, 9) in e.lines}
    plain, pointed = proposed(), proposed(told)
    assert there
    assert sum(pointed[label] for label in there) > sum(plain[label] for label in there)
    assert diagnosis(observed(told)).lines == {9}


@pytest.mark.heavy
def test_the_critique_speaks_of_subjects() -> None:
    told = Section("Critique", "Original program: ordered map lookup: a hash map, or a sorted vector.")
    assert by_rule(proposed(told, draws=40))["hash_table"] > by_rule(proposed(draws=40))["hash_table"]


def test_only_the_latest_critique_speaks_of_this_program() -> None:
    told = Section("Critique", "Step 1: hot at line 3.\n\nStep 2: hot at lines 8-9.")
    assert diagnosis(observed(told)).lines == {8, 9}


@pytest.mark.heavy
@pytest.mark.parametrize(
    "section",
    [
        Section("Critique", "Original program: line 9: map lookup, allocation, modulo, loop"),
        Section("Failures", "- fast_out(buffer=65536): x (y)\n=> unbuilt: error\n\n- newline(): x (y)\n=> wrong: 1"),
        Section(
            "Best of the run",
            "- hash_table(seen, table=pooled, load=75, first=16): x (y)\n=> correct, speedup 4.00x [3, 5]",
        ),
        Section("Trajectory", "Step 1:\n- sync_off(buffer=0): x (y)\n=> correct, speedup 0.50x [0.4, 0.6]"),
    ],
    ids=lambda section: section.title,
)
def test_switching_a_section_off_changes_the_proposals(section: Section) -> None:
    full = [observed(section, draw=draw * 7919) for draw in range(25)]
    changed = sum(propose(one).completion != propose(without(one, section.title)).completion for one in full)
    assert changed > 4


@pytest.mark.heavy
def test_labels_in_the_notes_are_those_of_the_edits() -> None:
    offered = {edit.label for edit in edits_of("hash_table", SMALL)}
    assert {label for label in proposed(draws=80) if label.startswith("hash_table")} <= offered
