"""What training asks, measures and remembers, on a scripted evaluator: no compiler, no torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from maxcode.core.history import Reached
from maxcode.core.jsonl import Lines
from maxcode.core.types import Action, Evaluation, Interval, Observation, Outcome, Problem, Program, ProgramSpec, State
from maxcode.errors import MachineError, RecordError
from maxcode.evaluate.machine.machine import describe
from maxcode.policy.llm import messages
from maxcode.search.methods import method
from maxcode.search.scene import Scene
from maxcode.search.stages import Promotion, Stage, Stages
from maxcode.testing import FakeClock, Scripted, exact_timing
from maxcode.train.advantages import Advantage
from maxcode.train.diversity import FILE, ArchiveProgress, Diversity, PromptRow, ScoredAnswer, archive_as_json
from maxcode.train.judge import Judge, Rules
from maxcode.train.measuring import Measurement, MeasureRequest, Measuring, pooled
from maxcode.train.prompts import Chat, Compact
from maxcode.train.rewards import Shaped

KERNEL = "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2.0; }\n"
RESTRICT = KERNEL.replace("double *a", "double *restrict a")
PROBLEM = Problem("scale", "program", "c", Program({"k.c": KERNEL}), ProgramSpec())
TWO = Stages((Stage("plain", frozenset()), Stage("hints", frozenset({"restrict"}))), Promotion(0.5, 1, 2), 0.5)


def numbered(n: int, text: str = KERNEL) -> str:
    return text.replace("2.0", f"{n}.0")


@dataclass
class Bench:
    """An evaluator with a rate for every text: its number, half as much again with `restrict`."""

    fails: Callable[[str], bool] = lambda text: False
    asked: list[str] = field(default_factory=list)
    factor: float = 1.0

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        if action.program is None:
            return Evaluation(Outcome.UNPARSED)
        text = action.program.text
        self.asked.append(text)
        await anyio.lowlevel.checkpoint()
        if self.fails(text):
            raise MachineError("the node went away")
        if "restrict" in text and problem.permitted is not None and "restrict" not in problem.permitted:
            return Evaluation(Outcome.REJECTED)
        if "a[i]" not in text:
            return Evaluation(Outcome.WRONG)
        speed = float(text.split("*=")[1].split(";")[0]) * (1.5 if "restrict" in text else 1.0) * self.factor
        timing = replace(exact_timing(speed), samples=((speed, 1.0), (speed * 1.1, 1.0)))
        return Evaluation(Outcome.CORRECT, timing=timing)


def progress(rules: Diversity, rows: int = 2, seed: int = 0) -> ArchiveProgress:
    return ArchiveProgress([PROBLEM], rows, rules, seed)


def judge(folder: Path | None, bench: Bench, rules: Diversity, afresh: Bench | None = None) -> Judge:
    told = Rules(Compact(), Shaped(), Advantage("max_at_k", k=2))
    return Judge(progress(rules), Measuring(bench, afresh, folder), told, folder, clock=FakeClock())


def step(one: Judge, number: int, texts: list[str]) -> Any:
    """A step of two rows, half of the texts each."""
    rows = [2 * number] * (len(texts) // 2) + [2 * number + 1] * (len(texts) // 2)
    one.begin()
    found = one.judge(rows, texts)
    one.finish()
    return found


# ------------------------------------------------------------------------------------------------------------ measuring


def test_every_kernel_is_measured_once_whatever_its_layout(tmp_path: Path) -> None:
    bench = Bench()
    measuring = Measuring(bench, folder=tmp_path)
    asked = [
        MeasureRequest(PROBLEM, Action(PROBLEM.program.with_text(text)))
        for text in (KERNEL, "\n" + KERNEL, numbered(7))
    ]
    batch = anyio.run(measuring.measure, 0, asked, [0, 0, 0])
    assert (batch.fresh, len(bench.asked), len(measuring)) == (2, 2, 2)
    assert batch.evaluations[0] == batch.evaluations[1]
    assert anyio.run(measuring.measure, 1, asked, [1, 1, 1]).fresh == 0


def test_a_failure_of_the_machine_is_none_for_that_kernel_alone_and_is_tried_again() -> None:
    broken = {numbered(7)}
    bench = Bench(fails=lambda text: text in broken)
    measuring = Measuring(bench)
    asked = [MeasureRequest(PROBLEM, Action(PROBLEM.program.with_text(text))) for text in (KERNEL, numbered(7))]
    first = anyio.run(measuring.measure, 0, asked, [0, 0])
    assert first.evaluations[0] is not None and first.evaluations[1] is None
    broken.clear()
    second = anyio.run(measuring.measure, 1, asked, [1, 1])
    assert second.evaluations[1] is not None and second.fresh == 1


def test_the_fastest_of_a_group_is_timed_again_and_both_timings_count() -> None:
    bench, again = Bench(), Bench(factor=0.9)
    measuring = Measuring(bench, again)
    asked = [MeasureRequest(PROBLEM, Action(PROBLEM.program.with_text(numbered(n)))) for n in (2, 8, 3, 4)]
    batch = anyio.run(measuring.measure, 0, asked, [0, 0, 1, 1])
    assert again.asked == [numbered(8), numbered(4)]
    leader = batch.evaluations[1]
    assert leader is not None and leader.timing is not None
    assert leader.timing.pairs == 4
    assert leader.timing.speedup.low == pytest.approx(7.2)
    assert anyio.run(measuring.measure, 1, asked, [0, 0, 1, 1]).fresh == 0, "twice is enough"


def test_pooled_rates_are_those_of_all_pairs() -> None:
    def timed(seconds: list[float]) -> Evaluation:
        samples = tuple((2.0, one) for one in seconds)
        rates = sorted(6.0 / one for one in seconds)
        gflops = Interval(rates[len(rates) // 2], rates[0], rates[-1])
        return Evaluation(Outcome.CORRECT, timing=replace(exact_timing(2.0), samples=samples, gflops=gflops))

    found = pooled(timed([1.0, 1.5, 2.0]), timed([1.0, 1.5, 3.0])).timing
    assert found is not None and found.gflops is not None
    assert (found.gflops.low, found.gflops.value, found.gflops.high) == (2.0, 4.0, 6.0)


def test_a_technique_that_is_refused_at_one_stage_is_measured_at_another() -> None:
    bench = Bench()
    measuring = Measuring(bench)
    action = Action(PROBLEM.program.with_text(RESTRICT))
    problems = [
        replace(PROBLEM, permitted=permitted) for permitted in (frozenset[str](), frozenset({"restrict"}), None)
    ]
    batch = anyio.run(measuring.measure, 0, [MeasureRequest(problem, action) for problem in problems], [0, 1, 2])
    assert [one.outcome if one else None for one in batch.evaluations] == [
        Outcome.REJECTED,
        Outcome.CORRECT,
        Outcome.CORRECT,
    ]
    assert batch.fresh == 2, "what is permitted does not change how fast it is"
    assert len(measuring) == 1, "it is one kernel"


def test_an_answer_without_a_program_is_no_measured_kernel(tmp_path: Path) -> None:
    measuring = Measuring(Bench(), folder=tmp_path)
    actions = [Action(None, unread="no code block"), Action(None, unread="two programs"), Action(PROBLEM.program)]
    batch = anyio.run(measuring.measure, 0, [MeasureRequest(PROBLEM, one) for one in actions], [0, 0, 0])
    assert [one.outcome if one else None for one in batch.evaluations] == [Outcome.UNPARSED] * 2 + [Outcome.CORRECT]
    assert (batch.fresh, len(measuring)) == (1, 1)
    resumed = Measuring(Bench(), folder=tmp_path)
    resumed.resume(1)
    assert len(resumed) == 1


def test_a_repeated_step_sees_what_it_saw_and_measures_nothing_twice(tmp_path: Path) -> None:
    bench, again = Bench(), Bench(factor=0.5)
    first = Measuring(bench, again, tmp_path)
    asked = [MeasureRequest(PROBLEM, Action(PROBLEM.program.with_text(numbered(n)))) for n in (2, 8)]
    before = [anyio.run(first.measure, number, asked[: number + 1], [0] * (number + 1)) for number in (0, 1)]
    resumed = Measuring(other := Bench(), Bench(), tmp_path)
    resumed.resume(1)
    assert len(resumed) == 1
    found = anyio.run(resumed.measure, 1, asked, [0, 0])
    assert found.evaluations == before[1].evaluations
    assert (found.fresh, other.asked) == (0, [])


def test_a_torn_last_line_is_dropped_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    lines = Lines(path, Measurement)
    one = Measurement(step=0, key="k", problem="p", evaluation=Evaluation(Outcome.WRONG))
    lines.append(one)
    with path.open("ab") as file:
        file.write(b'{"step": 1, "ke')
    assert list(lines.read()) == [one]
    lines.append(one)
    assert list(lines.read()) == [one, one]
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    with pytest.raises(RecordError, match="line 1 is damaged"):
        list(lines.read())


# ------------------------------------------------------------------------------------------------- stages and prompts


def answers(stage: int, group: int, *speeds: float | None, text: str = KERNEL) -> list[ScoredAnswer]:
    return [
        ScoredAnswer(
            "scale", stage, group, PROBLEM.program.with_text(numbered(int(s), text)) if s is not None else None, s
        )
        for s in speeds
    ]


def test_prompts_follow_the_stages_with_a_lag_of_one_step() -> None:
    found = progress(Diversity(TWO, promotion=True, shown=0.0))
    asked = []
    for number in range(8):
        asked.append({found.row(2 * number + slot).stage for slot in (0, 1)})
        found.after(number, answers(found.standing("scale").stage, 2 * number, 3.0, 3.0))
    # two visits that are valid and stand still promote after step 1 at the earliest; step 3 is the first to see it
    assert asked[:3] == [{0}, {0}, {0}]
    assert any(1 in stages for stages in asked[3:])
    later = [found.row(number).stage for number in range(40, 80)]
    assert set(later) == {0, 1}, "a share of earlier stages is rehearsed"


def test_what_the_machine_failed_to_score_neither_promotes_nor_holds_a_problem_back() -> None:
    lost = [replace(one, scored=False) for one in answers(0, 1, None, None, None)]
    right, mixed = (progress(Diversity(TWO, promotion=True, shown=0.0)) for _ in range(2))
    for step in range(6):
        right.after(step, answers(right.standing("scale").stage, step, 3.0, 3.0))
        mixed.after(step, [*answers(mixed.standing("scale").stage, step, 3.0, 3.0), *lost])
    assert right.standing("scale") == mixed.standing("scale")
    assert right.standing("scale").stage == 1


def test_a_row_asks_the_same_however_late_it_is_fetched() -> None:
    """Trainers fetch a batch ahead, and a resumed one fetches later: neither may change a prompt."""
    early, late = progress(Diversity(TWO, shown=1.0)), progress(Diversity(TWO, shown=1.0))
    fetched: dict[int, PromptRow] = {}
    for number in range(12):
        fetched |= {
            row: early.row(row) for row in range(2 * number, 2 * number + 2)
        }  # before the step before is scored
        if number:
            early.after(number - 1, answers(0, 2 * number, float(number), 2.0, None))
    for number in range(11):
        late.after(number, answers(0, 2 * number + 2, float(number + 1), 2.0, None))
    assert {row: late.row(row) for row in fetched} == fetched
    assert len({asked.shown.program.text for asked in fetched.values() if asked.shown is not None}) > 3


def test_without_promotion_the_stages_take_turns_and_without_an_archive_nothing_is_shown() -> None:
    found = progress(Diversity(TWO, promotion=False, archive=False, shown=1.0))
    found.after(0, answers(0, 0, 3.0, 4.0))
    rows = [found.row(number) for number in range(12)]
    assert [row.stage for row in rows] == [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert all(row.shown is None for row in rows)
    assert found.bonus(answers(0, 0, 3.0)) == [0.0]
    unstaged = progress(Diversity(None, archive=False))
    assert {unstaged.row(number).problem.permitted for number in range(8)} == {None}


def test_only_kernels_that_a_stage_permits_are_shown() -> None:
    found = progress(Diversity(TWO, promotion=False, shown=1.0))
    found.after(0, answers(1, 1, 3.0, text=RESTRICT))
    shown = [found.row(number) for number in range(4, 24)]
    assert all(row.shown is None for row in shown if row.stage == 0)
    assert all(row.shown is not None for row in shown if row.stage == 1)


def test_a_cell_that_is_rarely_seen_pays_more() -> None:
    found = progress(Diversity(TWO, novelty=0.1))
    same = answers(0, 0, *[3.0] * 4)
    rare = answers(0, 0, 3.0, text=RESTRICT)
    paid = found.bonus([*same, *rare, *answers(0, 0, None)])
    assert paid == pytest.approx([0.05] * 4 + [0.1, 0.0])
    found.after(0, same)
    assert found.bonus(same)[0] == pytest.approx(0.1 / (4 + 0.9 * 0 + 4) ** 0.5)


def test_prompts_state_what_is_permitted_and_show_the_kernel() -> None:
    problem = replace(PROBLEM, permitted=frozenset({"simd", "restrict"}))
    found = progress(Diversity(TWO))
    found.after(0, answers(0, 0, 3.0))
    (shown,) = found.archive("scale").elites().values()
    text = Compact().ask(problem, [shown])
    assert text == f"<bos>//scale\n//restrict\n//simd\n//from\n{numbered(3)}//to\n"
    assert "//threads" not in Compact().ask(PROBLEM), "small models learn of kernels on one core"
    chat = Chat().ask(problem, [shown])
    assert [message["role"] for message in chat] == ["system", "user"]
    told = chat[1]["content"]
    assert "permitted techniques, all others are refused:\n- restrict: " in told
    assert "# Earlier kernels, all correct" in told and numbered(3) in told
    assert told.index("# Earlier kernels") < told.index("# Task")


def test_a_chat_prompt_is_that_of_the_first_proposal_of_a_search() -> None:
    machine = describe("none")
    root = State(PROBLEM)
    made = method("best-of-n", Scripted(), 8, Scene(machine))
    asked = messages(Observation(made.observe(root, Reached(root)), root, 0), may_pass=False)  # a sample has a reward
    assert Chat(machine).ask(PROBLEM) == [{"role": one.role, "content": one.text} for one in asked]
    task = Chat(machine).ask(PROBLEM)[1]["content"].partition("# Task")[2]
    assert "last attempt" not in task and "best so far" not in task, "there is none"


def test_completions_are_read_as_the_search_reads_them() -> None:
    assert Compact().read(PROBLEM, KERNEL).program == PROBLEM.program
    assert Compact().read(PROBLEM, "  \n").program is None
    problem = replace(PROBLEM, program=Program({"k.c": "int main(void) { return 0; }\n"}))
    answer = [{"role": "assistant", "content": "Faster:\n```c\nint main(void) { return 1 - 1; }\n```\n"}]
    program = Chat().read(problem, answer).program
    assert program is not None and "1 - 1" in program.text
    unread = Chat().read(problem, [{"role": "assistant", "content": "I cannot."}])
    assert unread.program is None and unread.unread


# -------------------------------------------------------------------------------------------------------------- judging


def test_a_step_becomes_advantages_that_are_centred_within_each_group() -> None:
    found = step(judge(None, Bench(), Diversity(TWO, novelty=0.0)), 0, [numbered(n) for n in (1, 2, 3, 8)] * 2)
    assert sum(found.advantages[:4]) == pytest.approx(0.0)
    assert found.advantages[3] == max(found.advantages)
    assert found.scores[3] > found.scores[2] > found.scores[0]
    assert (found.step.samples, found.step.fresh, found.step.valid) == (8, 4, 1.0)
    assert found.step.unique == 0.5
    assert found.step.best == 8.0


def test_answers_that_the_machine_failed_have_no_score_and_no_advantage() -> None:
    bench = Bench(fails=lambda text: "3.0" in text)
    found = step(judge(None, bench, Diversity(TWO)), 0, [numbered(n) for n in (1, 3, 4, 8)] * 2)
    assert [one is None for one in found.scores] == [one is None for one in found.advantages]
    assert found.advantages[1] is None
    assert found.step.scored == 6
    assert sum(one for one in found.advantages[:4] if one is not None) == pytest.approx(0.0)


def test_where_a_steps_time_went_adds_up() -> None:
    clock = FakeClock()
    one = judge(None, Bench(), Diversity(TWO))
    one.clock = clock
    one.begin()
    clock.advance(3.0)
    one.judge([0, 0, 1, 1], [numbered(n) for n in (1, 2, 3, 4)])
    clock.advance(2.0)
    line = one.finish()
    assert line is not None
    assert (line.generate_s, line.evaluate_s, line.learn_s) == (3.0, 0.0, 2.0)
    assert one.steps == [line]


def test_a_resumed_judge_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    texts = [[numbered(1 + (7 * n + k) % 9) for k in range(4)] for n in range(6)]
    rules = Diversity(TWO, shown=1.0, novelty=0.1)
    whole = judge(tmp_path / "whole", Bench(), rules, Bench(factor=0.5))
    unbroken = [step(whole, number, some) for number, some in enumerate(texts)]

    killed = judge(tmp_path / "killed", Bench(), rules, Bench(factor=0.5))
    for number in range(3):
        step(killed, number, texts[number])
    killed.progress.save(tmp_path / FILE)
    for number in range(3, 5):
        step(killed, number, texts[number])  # lost: the checkpoint is that of three steps

    resumed = judge(tmp_path / "killed", Bench(), rules, Bench(factor=0.5))
    resumed.progress.load(tmp_path / FILE)
    resumed.resume(3)
    again = [step(resumed, number, texts[number]) for number in range(3, 6)]
    assert [one.advantages for one in again] == [one.advantages for one in unbroken[3:]]
    assert [line.step for line in resumed.steps] == list(range(6))
    assert (tmp_path / "killed/samples.jsonl").read_bytes() == (tmp_path / "whole/samples.jsonl").read_bytes()
    assert archive_as_json(resumed.progress) == archive_as_json(whole.progress)
    assert [resumed.progress.row(n) for n in range(30)] == [whole.progress.row(n) for n in range(30)]


def test_a_checkpoint_of_other_problems_is_refused(tmp_path: Path) -> None:
    progress(Diversity(TWO)).save(tmp_path / FILE)
    other = ArchiveProgress([replace(PROBLEM, id="other")], 2, Diversity(TWO))
    with pytest.raises(RecordError, match="choose another --out"):
        other.load(tmp_path / FILE)


def test_the_line_of_a_step_counts_what_all_processes_measured() -> None:
    one = judge(None, Bench(), Diversity(TWO))
    one.share = lambda rows: rows + rows  # another process found and measured the same
    found = step(one, 0, [numbered(n) for n in (1, 2, 3, 8)] * 2)
    assert len(found.advantages) == 8
    assert (found.step.samples, found.step.scored, found.step.fresh) == (16, 16, 8)


def test_a_collapse_is_said() -> None:
    one = judge(None, Bench(), Diversity(TWO))
    step(one, 0, [numbered(n) for n in range(1, 9)])
    collapsed = step(one, 1, [numbered(5)] * 4 + ["void f();"] * 4)
    assert collapsed.step.valid == 0.5
    assert collapsed.step.alarms == ("validity fell from 100% to 50%",)
    assert step(one, 2, [numbered(5)] * 8).step.alarms == ("few of the answers differ",)
