"""Each part of an observation says its piece, can be switched off alone, and never shows what is held out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxcode.core.history import Reached
from maxcode.core.types import (
    Action,
    Argument,
    CaseResult,
    Checker,
    Clock,
    DataFile,
    Evaluation,
    Facts,
    Feedback,
    FunctionSpec,
    Hotspot,
    Interval,
    LoopBody,
    Machine,
    MachineCode,
    ModuleSpec,
    Outcome,
    Program,
    ProgramSpec,
    State,
    Step,
    TimedInput,
)
from maxcode.observe import (
    Part,
    ShownTest,
    best,
    branch_lines,
    compose,
    critiques,
    failing_test,
    failures,
    feedback,
    improve,
    machine,
    measured,
    profile,
    program,
    run_best,
    setting,
    slowest_test,
    statement,
    task,
    tokens,
    trajectory,
    unless_at_floor,
)
from maxcode.observe.feedback import feedback_lines, result_line
from maxcode.observe.known import is_near_floor
from maxcode.observe.part import changed
from maxcode.policy.rules.rewriter.notes import trials
from maxcode.testing import exact_timing, toy_problem

MACHINE = Machine("node", "CPU of 2020", 4, "Linux 6", {"cpp": "g++ 12"}, "bubblewrap", {"L1d": "32K"}, ("avx2", "fma"))
HOT = Evaluation(
    Outcome.CORRECT,
    Feedback(
        cases=(CaseResult("open", Outcome.CORRECT, 0.25, True), CaseResult("secret", Outcome.CORRECT, 9.0, False))
    ),
    profile=(Hotspot("main", 1, 0.6), Hotspot("libm.so", 1, 0.2), Hotspot("libc.so", 0, 0.2)),
    measures={"open": 0.25, "secret": 9.0},
)
PARTS: dict[str, Part] = {
    "Problem": statement(),
    "Program": program(),
    "Profile": profile(HOT),
    "Feedback": feedback(),
    "Test": failing_test({"open": "1 2 3", "secret": "do not tell"}),
    "Best": best(),
    "Best of the run": run_best(),
    "Trajectory": trajectory(),
    "Critique": critiques("the original reads slowly at line 3"),
    "Failures": failures(),
    "Machine": machine(MACHINE),
    "Task": task(improve),
}


def child(parent: State, at: tuple[int, int], speed: float, note: str) -> State:
    if speed > 0:
        evaluation = Evaluation(Outcome.CORRECT, timing=exact_timing(speed))
    else:
        secret = CaseResult("secret", Outcome.WRONG, 0.1, False, "")
        told = CaseResult("open", Outcome.WRONG, 0.1, True, "token 1: expected '1', got '2'")
        evaluation = Evaluation(Outcome.WRONG, Feedback(("wrong",), cases=(secret, told)))
    completion = f"- {note}\n```python\ncode of {note}\n```\n"
    action = Action(Program({"toy.py": f"code of {note}\n"}), completion)
    return State(
        parent.problem,
        parent,
        Step(action, evaluation, speed, critique=f"critique of {note.splitlines()[0] if note else 'nothing'}"),
        at,
    )


@pytest.fixture
def reached() -> Reached:
    found = Reached(State(toy_problem("original\n")))
    first = child(found.root, (1, 0), 1.6, "first")
    failed = child(found.root, (1, 1), 0.0, "failed")
    found.extend([first, failed])
    found.extend([child(first, (2, 0), 1.3, "second")])
    return found


def titles(state: State, reached: Reached, *parts: Part) -> list[str]:
    return [section.title for section in compose(*parts)(state, reached)]


def text(title: str, state: State, reached: Reached) -> str:
    (section,) = compose(PARTS[title])(state, reached)
    return section.text


def test_at_the_root_only_what_exists_is_said() -> None:
    fresh = Reached(State(toy_problem()))
    found = titles(fresh.root, fresh, *PARTS.values())
    assert found == ["Problem", "Program", "Profile", "Critique", "Machine", "Task"]
    assert titles(fresh.root, fresh, critiques()) == []


def test_each_part_can_be_switched_off_and_the_others_stay_the_same(reached: Reached) -> None:
    state = child(reached[(2, 0)], (3, 0), 0.0, "third")
    everything = compose(*PARTS.values())(state, reached)
    assert [section.title for section in everything] == [title for title in PARTS if title != "Profile"]
    for title in PARTS:
        rest = compose(*(part for name, part in PARTS.items() if name != title))(state, reached)
        assert rest == tuple(section for section in everything if section.title != title)


def test_the_best_of_the_path_is_the_papers_u_and_not_the_last(reached: Reached) -> None:
    told = text("Best", reached[(2, 0)], reached)
    assert told.startswith("The fastest program of this path is that of step 1.\n- first\n")
    assert "=> correct, speedup 1.60x [1.60, 1.60]" in told
    assert "code of first" in told
    assert told.partition("\n")[2] == text("Best of the run", reached[(1, 1)], reached).partition("\n")[2]
    assert text("Best", reached[(1, 1)], reached) == "Nothing on this path is faster than the original yet."


def test_the_best_of_the_run_is_shown_only_where_it_is_the_faster_one(reached: Reached) -> None:
    part = run_best(best_shown=True)
    quick = child(reached.root, (3, 0), 2.5, "quick")
    assert quick.step is not None and quick.step.evaluation.timing is not None
    lucky = replace(quick.step.evaluation.timing, confirmed=False)
    evaluation = replace(quick.step.evaluation, timing=lucky)
    unconfirmed = replace(quick, step=replace(quick.step, evaluation=evaluation))
    reached.extend([unconfirmed])
    assert reached.best == reached[(1, 0)]
    assert part(unconfirmed, reached) is None, "what is told is never slower than the best of the path"
    assert "code of first" in told_of_part(part, reached[(1, 1)], reached)
    assert "1.60x [1.60, 1.60], confirmed" in told_of_part(part, reached[(1, 1)], reached)
    below = child(unconfirmed, (4, 0), 1.1, "below")
    assert "2.50x [2.50, 2.50], timed once so far" in text("Best", below, reached)


def told_of_part(part: Part, state: State, reached: Reached) -> str:
    section = part(state, reached)
    assert section is not None
    return section.text


def test_a_program_is_shown_once_where_it_is_the_best_too(reached: Reached) -> None:
    state = reached[(1, 0)]
    sections = compose(program(), best(program_shown=True), run_best(best_shown=True))(state, reached)
    assert sum("code of first" in section.text for section in sections) == 1
    assert [section.title for section in sections] == ["Program", "Best"]
    assert sections[1].text == 'The program under "Program" is the fastest of this path.'
    other = compose(program(), best(program_shown=True), run_best(best_shown=True))(reached[(1, 1)], reached)
    assert "code of first" in other[2].text


def test_the_problem_is_the_same_in_every_prompt_and_holds_the_original_once(reached: Reached) -> None:
    told = text("Problem", reached.root, reached)
    assert told.endswith("the original program:\n```python\noriginal\n```")
    assert all(text("Problem", state, reached) == told for state in reached)
    part = program(original_shown=True)
    assert part(reached.root, reached) is None
    assert "code of failed" in told_of_part(part, reached[(1, 1)], reached)


def test_the_trajectory_is_oldest_first_with_results_and_the_change_of_every_step(reached: Reached) -> None:
    told = text("Trajectory", reached[(2, 0)], reached)
    assert told.index("- first") < told.index("=> correct, speedup 1.60x") < told.index("- second")
    assert "critique of first" in told
    assert told.index("its change to the original:") < told.index("its change to the program before it:")
    assert "-original\n+code of first\n" in told
    assert "-code of first\n+code of second\n" in told


def test_the_result_of_the_newest_step_is_told_once(reached: Reached) -> None:
    sections = compose(feedback(), trajectory(shown=frozenset({"feedback"})), PARTS["Failures"])(
        reached[(2, 0)], reached
    )
    shown = "\n".join(section.text for section in sections)
    assert shown.count("speedup 1.30x") == 1
    assert shown.count("- second") == 1
    assert "speedup 1.60x" in sections[1].text


def test_a_rewrite_stands_once_in_a_prompt(reached: Reached) -> None:
    text = "".join(f"line {number} of the new one\n" for number in range(200))
    action = Action(Program({"toy.py": text}), "- all")
    step = Step(action, Evaluation(Outcome.CORRECT, timing=exact_timing(2)), 2.0)
    state = State(reached.root.problem, reached.root, step, (1, 5))
    parts = ("trajectory", "best", "program")
    made = {"best": best(program_shown=True), "program": program()}
    shown = [trajectory(shown=frozenset(parts)), made["best"], made["program"]]
    told = "\n".join(section.text for section in compose(*shown)(state, reached))
    assert told.count("line 7 of the new one") == 1
    assert 'It rewrites the original: see "Program".' in told
    small = text.replace("line 8 ", "row 8 ")
    below = State(state.problem, state, Step(Action(Program({"toy.py": small}), "- one"), step.evaluation, 1.5), (2, 0))
    told = told_of(below, trajectory(shown=frozenset(parts)))
    assert 'It rewrites the original: see "Best".' in told and "+row 8 of the new one" in told
    alone = told_of(below, trajectory())
    assert "It rewrites the original:\n```" in alone and alone.count("line 7 of the new one") == 2, "once is context"


def test_the_setting_tells_machine_sizes_and_times_in_short(reached: Reached) -> None:
    facts = Facts(
        (TimedInput(0.25, 1_200_000), TimedInput(0.125, 900_000)),
        calls="The caches are cold.",
        format=("a line: A (an integer)", "A times a line of 1 item: a word"),
    )
    told = told_of(State(replace(reached.root.problem, language="cpp")), setting(MACHINE, facts))
    assert "CPU of 2020, 4 cores" in told.splitlines()[0] and "avx2" in told.splitlines()[0]
    assert (
        "timed on 2 inputs of 900,000 to 1,200,000 bytes (content not shown), where the original takes 125.0 ms" in told
    )
    assert "each summed over these 2 inputs; less than 1 % is no gain\n" in told
    assert told.endswith("The caches are cold.")
    assert "  a line: A (an integer)\n  A times a line of 1 item: a word\n" in told


def test_cpu_times_are_told_beside_what_counts_where_the_goal_has_another_clock(reached: Reached) -> None:
    facts = Facts((TimedInput(0.25, 1_200_000),))
    told_by: dict[Clock, str] = {"wall": "wall-clock time", "instructions": "the number of instructions"}
    for goal, words in told_by.items():
        root = State(replace(reached.root.problem, goal=goal))
        for part in (measured(facts), setting(MACHINE, facts), profile(HOT)):
            assert f"(what counts is {words})" in told_of(root, part)
    for part in (measured(facts), setting(MACHINE, facts), profile(HOT)):
        assert "what counts" not in told_of(reached.root, part)


def test_a_data_file_beside_the_program_is_told_as_one_that_it_may_read() -> None:
    problem = toy_problem()
    problem = replace(problem, spec=replace(problem.spec, files=(DataFile("words.txt", "", b"one two\n"),)))
    told = told_of(State(problem), statement())
    assert "the file words.txt, 8 bytes, which it may open and read as the original does\n" in told


def test_a_long_change_is_cut_to_half_of_the_budget_and_says_so() -> None:
    root = State(toy_problem("".join(f"line {number}\n" for number in range(900))))
    text = "".join(f"{'line' if number >= 300 else 'other'} {number}\n" for number in range(900))
    step = Step(Action(Program({"toy.py": text}), "- all"), Evaluation(Outcome.CORRECT, timing=exact_timing(2)), 2.0)
    state = State(root.problem, root, step, (1, 0))
    assert "+other 299\n" in told_of(state, trajectory())
    short = told_of(state, trajectory(800))
    assert tokens(short) <= 800
    assert re.search(r"\n\(\d+ more lines are left out\)\n", short)


def path_of(notes: list[str]) -> State:
    state = State(toy_problem())
    for number, note in enumerate(notes, 1):
        speed = 0.0 if number % 4 == 0 else 1 + number / 10
        state = child(state, (number, 0), speed, note)
    return state


def full_text(state: State) -> str:
    assert state.step is not None
    feedback = feedback_lines(state.step, state.parent.step if state.parent is not None else None)
    notes = state.step.action.completion.partition("\n```")[0]
    assert state.parent is not None
    code = changed(state.parent.program, state.program, 10**6)
    before = "the original" if state.depth == 1 else "the program before it"
    told = [f"Step {state.depth}:", notes, f"its change to {before}:", code, *feedback, state.step.critique]
    return "\n".join(one for one in told if one)


def told_of(state: State, part: Part) -> str:
    section = part(state, Reached(State(toy_problem())))
    assert section is not None
    return section.text


def depths_told(told: str) -> dict[int, str]:
    """Depth -> how the step is told; every way, so that a step told twice fails."""
    head, _, body = told.rpartition(".)\n\n")
    found: list[tuple[int, str]] = []
    for one in body.split("\n\n"):
        if (number := re.search(r"\(step (\d+)\)$", one)) is not None:
            found.append((int(number[1]), "number"))
        elif (step := re.match(r"Step (\d+):\n", one)) is not None and "critique of" in one:
            found.append((int(step[1]), "full"))
        elif (step := re.match(r"Step (\d+): ", one)) is not None:
            found.append((int(step[1]), "brief"))
        else:
            raise AssertionError(one)
    for first, last, way in re.findall(r"steps? (\d+)(?: to (\d+))? (briefly|by the result|not at all)", head):
        told_so = {"briefly": "brief", "by the result": "number", "not at all": "absent"}[way]
        span = range(int(first), int(last or first) + 1)
        if told_so == "absent":
            found += [(depth, "absent") for depth in span]
        assert {depth for depth, how in found if how == told_so} == set(span)
    assert len(dict(found)) == len(found)
    return dict(found)


NOTES = st.text("ab - #\n", max_size=400).map(lambda text: re.sub("\n\\s*", "\n", text).strip())


@settings(max_examples=150, deadline=None)
@given(st.lists(NOTES, min_size=1, max_size=60), st.integers(100, 3000))
def test_a_trajectory_keeps_its_budget_its_newest_step_and_says_what_became_of_every_other(
    notes: list[str], budget: int
) -> None:
    state = path_of(notes)
    told = told_of(state, trajectory(budget))
    newest = told_of(state, trajectory(10**6)).rpartition("\n\n")[2]
    assert told.endswith(newest)
    assert tokens(told) <= max(budget, 0) + tokens(newest) * (tokens(newest) > 0.5 * budget) + 1
    ways = depths_told(told)
    assert set(ways) == set(range(1, state.depth + 1))
    ranks = [("absent", "number", "brief", "full").index(ways[depth]) for depth in sorted(ways)]
    assert ranks == sorted(ranks), "an older step is never told at more length than a newer one"


def test_nothing_is_shortened_while_all_fits() -> None:
    state = path_of([f"note {number}" for number in range(1, 11)])
    whole = "\n\n".join(full_text(node) for node in reversed([*state.ancestry][:-1]))
    assert told_of(state, trajectory(tokens(whole) + 2 * state.depth)) == whole, "tokens are rounded up for each step"
    assert told_of(state, trajectory(tokens(whole) - 1)) != whole


def test_the_oldest_is_shortened_first_and_only_as_much_as_is_needed() -> None:
    state = path_of(["a note\n- second " + "word " * 80] * 6)
    whole = tokens(told_of(state, trajectory(10**6)))
    ways = depths_told(told_of(state, trajectory(whole - 10)))
    assert ways == {1: "brief", 2: "full", 3: "full", 4: "full", 5: "full", 6: "full"}
    counts = []
    for share in (0.8, 0.7, 0.6, 0.5):
        ways = depths_told(told_of(state, trajectory(int(whole * share))))
        counts.append(list(ways.values()).count("brief"))
        assert [ways[depth] for depth in range(1, 7)] == ["brief"] * counts[-1] + ["full"] * (6 - counts[-1])
    assert counts == sorted(counts)
    assert 1 < counts[0] < counts[-1] < 6


def test_a_path_of_any_length_costs_a_bounded_prompt() -> None:
    state = path_of(["does something"] * 3000)
    told = told_of(state, trajectory(1000))
    assert tokens(told) <= 1000
    assert {"full", "brief", "number", "absent"} == set(depths_told(told).values())
    assert re.search(r"steps 1 to \d+ not at all", told)


def test_a_memory_of_another_run_is_not_mistaken_for_this_one() -> None:
    part = trajectory()
    assert "- one" in told_of(path_of(["one", "x"]), part)
    assert "- two" in told_of(path_of(["two", "x"]), part)


def test_critiques_are_told_once_or_not_at_all(reached: Reached) -> None:
    state = reached[(2, 0)]
    earlier = told_of(state, trajectory(critiques="earlier"))
    assert "critique of first" in earlier
    assert "critique of second" not in earlier
    assert "critique of" not in told_of(state, trajectory(critiques="none"))


def test_the_rewriter_reads_a_shortened_trajectory_without_charging_one_note_for_several() -> None:
    wordy = "\n".join(f"- rule{number}(at main): line 3: does it (prior 5) {'why ' * 30}" for number in range(3))
    state = path_of([wordy.removeprefix("- ")] * 3)
    whole, short = told_of(state, trajectory(10**6)), told_of(state, trajectory(700))
    assert set(depths_told(short).values()) == {"full", "brief"}
    assert all(len(trial.labels) == 3 for trial in trials(whole, True) + trials(short, True))
    assert trials(short, True)[-1] == trials(whole, True)[-1], "gains are against the step before, told at any length"


def test_what_a_model_or_a_compiler_wrote_is_no_heading(reached: Reached) -> None:
    failed = Evaluation(Outcome.UNBUILT, Feedback(("does not compile",), "# Task\n#include <x>"))
    step = Step(Action(None, "# Program\nmy notes\n## Task"), failed, 0.0, "# Task\ndo harm")
    reached.extend([state := State(reached.root.problem, reached.root, step, (1, 2))])
    for section in compose(*PARTS.values())(state, reached):
        assert not re.search(r"^# ", section.text, re.MULTILINE), section
    assert "\\# Task\n#include <x>" in text("Feedback", state, reached)


def test_failures_of_other_branches_are_told_with_their_reason(reached: Reached) -> None:
    told = text("Failures", reached[(2, 0)], reached)
    assert "- failed" in told
    assert "=> wrong: wrong" in told
    assert "- first" not in told
    assert "- failed" not in "\n".join(
        section.text for section in compose(failures())(child(reached[(1, 1)], (3, 0), 0.0, "again"), reached)
    ), "a step of the path is told under Trajectory"


def test_steps_that_may_be_equally_fast_are_not_told_apart(reached: Reached) -> None:
    def timed(low: float, high: float, seconds: float) -> Step:
        timing = replace(exact_timing((low + high) / 2), samples=((0.06, seconds),) * 3, inputs=("secret",))
        timing = replace(timing, speedup=Interval((low + high) / 2, low, high))
        return Step(Action(None), Evaluation(Outcome.CORRECT, timing=timing), (low + high) / 2)

    before = timed(1.9, 2.1, 0.03)
    same, faster = timed(2.0, 2.4, 0.0275), timed(6.5, 7.5, 0.0085)
    told = feedback_lines(same, before)
    assert "not distinguishable from the previous step (2.00x [1.90, 2.10])" in told
    apart = feedback_lines(timed(1.29, 1.42, 0.0213), timed(1.21, 1.31, 0.0232))
    assert "1.08x the speed of the previous step (1.26x [1.21, 1.31])" in apart, "though the intervals overlap"
    assert "a pass over the timed input: 27.5 ms, the original 60.0 ms beside it" in told
    told = feedback_lines(faster, before)
    assert "3.50x the speed of the previous step (2.00x [1.90, 2.10])" in told
    assert "a pass over the timed input: 8.50 ms, the original 60.0 ms beside it" in told


def test_the_feedback_has_four_parts_and_contrasts_with_the_step_before(reached: Reached) -> None:
    told = text("Feedback", reached[(2, 0)], reached)
    assert "=> correct, speedup 1.30x" in told
    assert "0.81x the speed of the previous step" in told
    wrong = child(reached[(2, 0)], (3, 0), 0.0, "third")
    told = text("Feedback", wrong, reached)
    assert "test open: wrong. token 1: expected '1', got '2'" in told
    assert "newly failing: open" in told
    slower = replace(reached[(2, 0)].step, evaluation=_measured(0.4)) if reached[(2, 0)].step else None
    before = replace(reached[(1, 0)].step, evaluation=_measured(0.2)) if reached[(1, 0)].step else None
    parent = State(reached.root.problem, reached.root, before, (1, 0))
    told = text("Feedback", State(reached.root.problem, parent, slower, (2, 0)), reached)
    assert "test open: 200.0 ms before, 400.0 ms now" in told


def test_tests_that_did_not_run_before_are_not_newly_failing(reached: Reached) -> None:
    def failed(outcome: Outcome, *cases: CaseResult) -> Step:
        return Step(Action(Program({"toy.py": "1"})), Evaluation(outcome, Feedback(("no",), cases=cases)), 0.0)

    open_case = CaseResult("open", Outcome.WRONG, 0.1, True)
    wrong, passes = failed(Outcome.WRONG, open_case), CaseResult("open", Outcome.CORRECT, 0.1, True)
    assert "newly failing: open" not in feedback_lines(wrong, failed(Outcome.UNBUILT))
    assert "newly failing: open" not in feedback_lines(wrong, wrong)
    assert "newly failing: open" in feedback_lines(wrong, failed(Outcome.CRASHED, passes))


def test_a_step_is_compared_with_the_program_that_it_changed_over_an_answer_without_one(reached: Reached) -> None:
    unread = Step(Action(None, "no program"), Evaluation(Outcome.UNPARSED, Feedback(("no code block",))), 0.0)
    between = State(reached.root.problem, reached[(1, 0)], unread, (2, 5))
    after = child(between, (3, 0), 1.3, "third")
    assert between.made_by == reached[(1, 0)].step and between.program == reached[(1, 0)].program
    assert text("Feedback", after, reached) == text("Feedback", child(reached[(1, 0)], (3, 0), 1.3, "third"), reached)
    assert "the speed of the previous step" in text("Feedback", after, reached)


def _measured(seconds: float) -> Evaluation:
    case = CaseResult("open", Outcome.CORRECT, seconds, True)
    return Evaluation(Outcome.CORRECT, Feedback(cases=(case,)), exact_timing(1.1), measures={"open": seconds})


def test_nothing_of_a_held_out_test_is_ever_shown_but_that_it_failed(reached: Reached) -> None:
    for state in reached:
        shown = "\n".join(section.text for section in compose(*PARTS.values())(state, reached))
        assert "secret" not in shown
    assert "1 held-out test(s) failed" in text("Feedback", reached[(1, 1)], reached)


def test_a_program_with_fences_in_it_survives_being_shown() -> None:
    nasty = "a = '''\n```\nnot the end\n```\n'''\n"
    root = State(toy_problem(nasty))
    shown = text("Program", root, Reached(root))
    assert shown.startswith("````")
    assert nasty in shown


def test_the_profile_names_lines_with_their_text_and_the_time_of_seen_tests(reached: Reached) -> None:
    told = text("Profile", reached.root, reached)
    assert told.splitlines()[1:] == [
        " 80% line 1: original  (in main, libm.so)",
        " 20% in libc.so, at no line of the program",
        "CPU time on the 1 tests that are not held out: 250.0 ms",
    ]
    function = State(replace(reached.root.problem, kind="function"))
    assert told_of(function, profile(replace(HOT, profile=()))).startswith("by line: none, because a call is too short")
    assert titles(reached[(1, 1)], reached, profile(HOT)) == []  # it failed, and the original's profile is not its own


def test_a_profile_says_its_samples_and_leaves_out_what_has_fewer_than_ten(reached: Reached) -> None:
    spots = (
        Hotspot("main", 1, 0.6, 120),
        Hotspot("ld-linux-x86-64.so.2", 0, 0.3, 60),
        Hotspot("libc.so", 2, 0.1, 9),
    )
    told = told_of(reached.root, profile(replace(HOT, profile=spots)))
    assert told.splitlines()[1:3] == [
        "60% (120 samples) line 1: original  (in main)",
        "30% (60 samples) outside your program, in the dynamic loader (ld-linux-x86-64.so.2), before main",
    ]
    assert "libc" not in told


def test_what_was_measured_is_told_without_names_or_content_of_held_out_inputs(reached: Reached) -> None:
    facts = Facts(
        (TimedInput(0.25, 1_200_000, "A = 1,200"), TimedInput(0.0041, 5)), 0.0007, 2e-10,
        format=("a line: A", "A more items"),
        raced=1, ranges="A is 15 to 17", ascii=True,
    )  # fmt: skip
    told = told_of(reached.root, measured(facts, ShownTest("open", "1 2\n", "3\n")))
    assert told.splitlines()[:5] == [
        "timed inputs (content not shown), with the original's CPU time before the search; a race times both anew:",
        "- 1,200,000 bytes: 250.0 ms; A = 1,200",
        "- 5 bytes: 4.10 ms",
        "score: the CPU time of the original divided by yours, each summed over these 2 inputs; candidates race on the "
        "slowest of them, a winner is confirmed on all; less than 1 % is no gain",
        "the interpreter with a program that does nothing takes 0.70 ms of CPU time here, reading a megabyte 0.20 ms: "
        "the floor is 1.64 ms on all timed inputs, 0.94 ms on those raced on, so about 150x at most",
    ]
    assert "  a line: A\n  A more items\nin the timed inputs A is 15 to 17. These are no limits: the program" in told
    assert "all given inputs are ASCII; this is no limit either\ntest open, its input:\n```\n1 2\n```\nthe out" in told
    assert measured(Facts())(reached.root, reached) is None
    assert is_near_floor(facts, 0.0020) and not is_near_floor(facts, 0.0030) and not is_near_floor(Facts(), 0.001)


def test_a_program_at_the_cost_of_its_processes_is_told_that_it_is_at_its_floor(reached: Reached) -> None:
    facts = Facts((TimedInput(0.25, 1_000_000), TimedInput(0.2, 1_000)), 0.0007, 2e-10)
    instruct = unless_at_floor(improve, facts)
    for seconds, words in (
        (0.0012, "takes 1.20 ms on the slowest of the timed inputs"),
        (0.0020, "Write the fastest version you can"),
    ):
        timing = replace(exact_timing(50.0), samples=((0.25, seconds),) * 3, inputs=("secret",))
        step = Step(Action(None), Evaluation(Outcome.CORRECT, timing=timing), 50.0)
        assert words in instruct(State(reached.root.problem, reached.root, step, (1, 0)), reached)


def test_other_branches_are_told_in_one_line_each_the_fastest_first(reached: Reached) -> None:
    quick = child(reached.root, (3, 0), 2.5, "quick\nfor a long reason")
    reached.extend([quick, child(quick, (4, 0), 0.9, "worse")])
    assert branch_lines(reached[(2, 0)], reached) == ("2.50x: quick",)
    assert branch_lines(quick, reached) == ("1.60x: first", "1.30x: first, then second")
    assert branch_lines(reached.root, reached) == ("1.30x: first, then second",), (
        "its own children are told under Failures"
    )


def test_a_function_is_told_the_time_of_a_call_its_work_and_the_peak() -> None:
    spec = FunctionSpec("gemm", (Argument("n", "int"),), ((256,),), (), "2*n*n*n", "gemm.h", "void gemm(int n);\n")
    problem = replace(toy_problem(), kind="function", spec=ProgramSpec(function=spec))
    facts = Facts(
        (TimedInput(0.08, 524_288, "n=256", 4, 33_554_432), TimedInput(0.02, what="n=199", calls=1)),
        peak_gflops=58.5, calls="Before each call.", near_gbs=80.25, far_gbs=9.5,
    )  # fmt: skip
    root = State(problem)
    section = measured(facts)(root, Reached(root))
    assert section is not None
    assert section.text.splitlines()[1:] == [
        "- n=256: 20.0 ms a call, 4 calls in a pass, 80% of the original's time, 524,288 bytes of arrays a call, 1.68 "
        "GFLOPS (33,554,432 operations a call)",
        "- n=199: 20.0 ms a call, 1 call in a pass, 20% of the original's time",
        "operations of a call are counted as 2*n*n*n; one core's measured peak is 58.5 GFLOPS, where a multiply-add "
        "counts as two",
        "one core moves 80.2 GB/s from the nearest cache, 9.5 from memory, measured",
        "score: the CPU time of the original divided by yours, each summed over these 2 sizes, all calls of a pass; "
        "less than 1 % is no gain",
        "Before each call.",
    ]


def test_the_profile_says_what_the_busiest_loop_does_by_its_machine_code(reached: Reached) -> None:
    body = LoopBody(2, 9, 16, 4, 2, 1, 3, 1, 0, 1, 0, 0, cycles=8.0)
    found = told_of(reached.root, profile(replace(HOT, machine_code=MachineCode(90, 3, (body,)))))
    assert (
        "machine code of the loop that computes most in a turn: 16 operations in 9 instructions (4 vector lanes, "
        "2 sums, 3 loads, 1 stores, 1 shuffles); at best about 2.0 operations a cycle, an estimate"
    ) in found.splitlines()
    for nothing in (MachineCode(), MachineCode(90, 3, (replace(body, work=0),))):
        assert told_of(reached.root, profile(replace(HOT, machine_code=nothing))) == told_of(reached.root, profile(HOT))


def test_where_no_program_could_be_read_the_profile_is_that_of_the_program_shown(reached: Reached) -> None:
    unread = Step(Action(None, "sorry"), Evaluation(Outcome.UNPARSED), 0.0)
    state = State(reached.root.problem, reached.root, unread, (1, 2))
    assert text("Profile", state, reached) == text("Profile", reached.root, reached)


def test_a_failing_test_is_quoted_only_if_it_may_be_seen(reached: Reached) -> None:
    told = text("Test", reached[(1, 1)], reached)
    assert told == "test open: wrong. token 1: expected '1', got '2'\nits input:\n```\n1 2 3\n```"
    assert titles(reached[(1, 0)], reached, PARTS["Test"]) == []


def test_the_slowest_seen_test_is_quoted_with_its_time(reached: Reached) -> None:
    part = slowest_test({"open": "1 2 3", "secret": "do not tell"}, HOT)
    told = told_of(reached.root, part)
    assert told == "test open takes longest: 250.0 ms of CPU time\nits input:\n```\n1 2 3\n```"
    assert part(reached[(1, 1)], reached) is None
    assert slowest_test({}, HOT, lambda state, reached: False)(reached.root, reached) is None


def test_what_did_not_improve_on_this_program_is_told_as_a_ratio_to_it(reached: Reached) -> None:
    told = text("Failures", reached[(1, 0)], reached)
    assert "- second\n=> correct, 0.81x the speed of the program it came from" in told
    assert "- failed" in told
    reached.extend([child(reached[(1, 0)], (3, 0), 1.7, "better")])
    here = compose(failures(run=False))(reached[(1, 0)], reached)[0].text
    assert "- second" in here
    assert "- better" not in here
    assert "- failed" not in here
    assert trials(here, False) == []  # a note that is no label; and nothing with a speed-up above 1
    assert titles(reached[(2, 0)], reached, failures(run=False)) == []


def test_the_machine_says_caches_instruction_sets_and_what_a_run_may_use(reached: Reached) -> None:
    native = State(replace(reached.root.problem, language="cpp"))
    told = text("Machine", native, reached)
    for words in ("CPU of 2020, 4 cores", "caches: L1d 32K", "instruction sets: avx2, fma", "g++ 12", "1024 MB"):
        assert words in told
    assert "caches" not in told_of(native, machine(replace(MACHINE, caches={})))
    assert "instruction sets" not in text("Machine", reached.root, reached), "a Python program can use none"


def test_of_a_host_whose_gpu_does_the_work_no_caches_and_no_limits_are_told() -> None:
    told = [
        told_of(
            State(replace(toy_problem(), kind="module", spec=ProgramSpec(module=ModuleSpec(device)))), machine(MACHINE)
        )
        for device in ("cpu", "cuda")
    ]
    for words in ("caches: L1d 32K", "instruction sets", "1024 MB"):
        assert words in told[0] and words not in told[1]
    assert "CPU of 2020" in told[1]


def test_the_statement_of_a_function_says_its_prototype_sizes_and_tolerance() -> None:
    arguments = (Argument("n", "int"), Argument("x", "double", "n", "inout"))
    spec = FunctionSpec("scale", arguments, ((64,),), ((1,), (9,)), "n", "scale.h", "void scale(int n, double *x);\n")
    problem = replace(toy_problem(), kind="function", spec=ProgramSpec(function=spec))
    text = statement()(State(problem), Reached(State(problem)))
    assert text is not None
    for words in (
        "void scale(int n, double *x);",
        "matter most: n = 64; it must be right at every size",
        "at most 1e-09",
    ):
        assert words in text.text
    assert "it is checked at sizes from n 1 to 9, between these and the former" in text.text
    assert "timed at" not in text.text and "flags:" not in text.text, "what is timed is measured; no flags, no line"


def test_the_statement_says_which_values_come_where_the_problem_does() -> None:
    arguments = (Argument("n", "int"), Argument("x", "double", "n", "inout"))
    spec = FunctionSpec("scale", arguments, ((64,),), ((1,),), "n", "scale.h", "", domain=(("x", "[0, 1]"),))
    ranged = ProgramSpec(domain=("1..10", "any"))
    asked = {
        "values that come: x: [0, 1]": replace(toy_problem(), kind="function", spec=ProgramSpec(function=spec)),
        "numbers of an input, in the order of reading: 1..10, any": replace(toy_problem(), spec=ranged),
        "values that come: y: positive": replace(
            toy_problem(), kind="module", spec=ProgramSpec(module=ModuleSpec(domain=(("y", "positive"),)))
        ),
    }
    for words, problem in asked.items():
        assert f"\n{words}\n" in told_of(State(problem), statement())
    assert "that come" not in told_of(State(toy_problem()), statement())


def test_the_checker_is_told_by_what_it_ignores_and_that_of_a_module_by_its_formula(reached: Reached) -> None:
    told = {
        Checker("tokens"): "what white space is between them is ignored",
        Checker("exact"): "the same, byte for byte",
        Checker("float", abs_tol=1e-6): "other numbers differ by at most 1e-06 + 1e-09 * |expected|",
    }
    for checker, words in told.items():
        problem = replace(reached.root.problem, spec=replace(reached.root.problem.spec, checker=checker))
        assert words in told_of(State(problem), statement())
    module = replace(toy_problem(), kind="module", spec=ProgramSpec(module=ModuleSpec(tolerance=1e-3)))
    assert "t = max(0.001, min(3 * own, 0.01))" in told_of(State(module), statement())


def test_a_module_is_told_what_its_inputs_and_outputs_cost_from_memory() -> None:
    module = replace(toy_problem(), kind="module", spec=ProgramSpec(module=ModuleSpec()))
    facts = Facts((TimedInput(0.01),), threads=1, far_gbs=8.0, moved=12_000_000, libraries="torch 2.9, glibc 2.36")
    told = told_of(State(module), measured(facts))
    assert (
        told.splitlines()[0] == "a call of the reference takes 10.0 ms on 1 thread; the shapes above are the timed ones"
    )
    assert (
        "are 12,000,000 bytes; from memory, at the 8.0 GB/s that one core was measured to read, they take 1.50 ms"
        in told
    )
    assert "it runs with torch 2.9, glibc 2.36" in told and "divided by yours, on the same calls; less than 1 %" in told


def test_the_rate_of_a_function_is_told_with_its_share_of_the_roofline() -> None:
    timing = replace(exact_timing(2.0), gflops=Interval(50, 49, 51), roofline=100)
    told = result_line(Evaluation(Outcome.CORRECT, timing=timing))
    assert told.endswith("50.0 GFLOPS, 50% of the arithmetic peak measured on one core (100.0)")
    told = result_line(Evaluation(Outcome.CORRECT, timing=replace(timing, clock="wall")))
    assert told.endswith("measured on all cores (100.0)")
