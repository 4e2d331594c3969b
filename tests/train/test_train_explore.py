"""What keeps a training exploring: random schedules beside the policy's answers, and answers that go on from the
archive."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maxcode.errors import InputError
from maxcode.problems import load
from maxcode.search.archive import Kept
from maxcode.train.advantages import Advantage
from maxcode.train.config import CorpusTable, TrainConfig
from maxcode.train.corpus import TURN
from maxcode.train.decoding import Legal
from maxcode.train.diversity import BEFORE, FILE, ArchiveProgress, Diversity, PromptRow
from maxcode.train.explore import Explore
from maxcode.train.grpo import PromptMaker
from maxcode.train.judge import Judge, Rules
from maxcode.train.measuring import Measuring
from maxcode.train.model import PIECES, train_tokenizer
from maxcode.train.pipeline import run
from maxcode.train.prompts import Scheduled
from maxcode.train.rewards import Shaped
from tests.support.toy_run import DEMO, TABLE, Rated, TableBench, toy

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

GEMM = load(DEMO / "gemm").problem
PROMPTS = Scheduled()
CHAIN = "accumulate(j in gemm)\nunroll(j in gemm, factor=4)\nrestrict(gemm)\n"
ANSWERS = [f"tile(j in gemm, size={size})\n" for size in (16, 48, 64, 128)]
TABLE_OF_KERNELS = CorpusTable(steps=4)


def begun(rules: Diversity, *schedules: str) -> ArchiveProgress:
    """An archive that begins with schedules, the first the fastest."""
    kept = []
    for at, schedule in enumerate(schedules):
        program = PROMPTS.read(GEMM, schedule).program
        assert program is not None
        kept.append(Kept((str(at),), program, 9.0 - at, BEFORE, schedule))
    found = ArchiveProgress([GEMM], 2, rules)
    found.begin({"gemm": kept})
    return found


def judge(progress: ArchiveProgress, folder: Path | None = None, count: int = 0) -> Judge:
    rules = Rules(PROMPTS, Shaped(), Advantage("max_at_k", k=2))
    explore = Explore(count, TABLE_OF_KERNELS, 7) if count else None
    return Judge(progress, Measuring(Rated(), None, folder), rules, folder, explore=explore)


def step(one: Judge, number: int, completions: list[str]) -> Any:
    """A step of two rows, half of the completions each."""
    half = len(completions) // 2
    found = one.judge([2 * number] * half + [2 * number + 1] * half, completions)
    one.finish()
    return found


def samples(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]


# -------------------------------------------------------------------------------------------------- random schedules


def test_random_schedules_are_legal_and_new_and_the_same_for_a_seed_and_a_row() -> None:
    one, others, row = Explore(6, TABLE_OF_KERNELS, 7), set[str](), PromptRow(0, GEMM, 0, None)
    found = one.beside(3, row, lambda problem, text: False, others)
    assert len(others) == len(found) == 6
    for action in found:
        made = PROMPTS.read(GEMM, action.completion).program
        assert made is not None and made == action.program and made.text in others
        assert 1 <= len(action.completion.splitlines()) <= TABLE_OF_KERNELS.steps
    assert one.beside(3, row, lambda problem, text: False, set()) == found
    assert one.beside(4, row, lambda problem, text: False, set()) != found
    assert replace(one, seed=8).beside(3, row, lambda problem, text: False, set()) != found
    first = found[0].program
    assert first is not None
    later = one.beside(3, row, lambda problem, text: text == first.text, set())
    assert later[:5] == found[1:] and len(later) == 6
    assert one.beside(3, row, lambda problem, text: True, set()) == [], "all are known"
    row = replace(row, beginning=CHAIN)
    for action in one.beside(3, row, lambda problem, text: False, set()):
        assert action.completion.startswith(CHAIN)
        assert 1 <= len(action.completion.splitlines()) - 3 <= TURN
        assert PROMPTS.read(GEMM, action.completion).program == action.program


def test_a_group_that_shows_a_schedule_also_changes_one_line_of_it() -> None:
    program = PROMPTS.read(GEMM, CHAIN).program
    assert program is not None
    row = PromptRow(0, GEMM, 0, Kept(("0",), program, 9.0, BEFORE, CHAIN))
    found = Explore(40, TABLE_OF_KERNELS, 7).beside(3, row, lambda problem, text: False, {program.text})
    for action in found:
        assert PROMPTS.read(GEMM, action.completion).program == action.program
    accumulate, unroll, restrict = CHAIN.splitlines()
    near = [action.completion.splitlines() for action in found]
    assert [accumulate, "unroll(j in gemm, factor=8)", restrict] in near, "another value"
    assert any(lines[:2] == [accumulate, unroll] and lines[2:] and restrict not in lines for lines in near), (
        "other step"
    )
    assert any(len(lines) > 3 and set(CHAIN.splitlines()) <= set(lines) for lines in near), "one more"
    assert [accumulate, restrict] in near or [unroll, restrict] in near, "left out"
    assert any(not set(CHAIN.splitlines()) & set(lines) for lines in near), "half of them are of random steps"


def test_they_are_measured_and_kept_but_belong_to_no_group_and_move_no_advantage(tmp_path: Path) -> None:
    alone, beside = judge(begun(Diversity(None))), judge(begun(Diversity(None)), tmp_path, 3)
    without, found = step(alone, 0, ANSWERS), step(beside, 0, ANSWERS)
    assert (found.advantages, found.scores) == (without.advantages, without.scores)
    for name in ("samples", "scored", "valid", "unique", "mean", "best", "score"):
        assert getattr(found.step, name) == getattr(without.step, name), f"{name} is of the policy's answers"
    assert (without.step.fresh, found.step.fresh, len(beside.measuring)) == (4, 10, 10)
    lines = samples(tmp_path)
    explored = [line for line in lines if line.get("explored")]
    assert (len(lines), len(explored)) == (10, 6)
    assert all(line["advantage"] is None and line["schedule"] and line["outcome"] == "correct" for line in explored)
    kept = {one.schedule for one in beside.progress.archive("gemm")}
    assert kept == {line["schedule"] for line in lines}, "what is imitated and shown is drawn from all of them"
    assert beside.progress.standing("gemm") == alone.progress.standing("gemm"), "they promote nothing"


def test_a_resumed_step_explores_what_the_unbroken_one_does(tmp_path: Path) -> None:
    rules = Diversity(None, shown=1.0)
    whole, killed = (judge(begun(rules, CHAIN), tmp_path / name, 2) for name in ("whole", "killed"))
    later = [f"unroll(p in gemm, factor={factor})\n" for factor in (2, 4, 8, 16)]
    for one in (whole, killed):
        step(one, 0, ANSWERS)
        one.progress.save(tmp_path / FILE)
        step(one, 1, later)
    resumed = judge(begun(rules), tmp_path / "killed", 2)
    resumed.progress.load(tmp_path / FILE)
    resumed.resume(1)
    step(resumed, 1, later)
    assert samples(tmp_path / "killed") == samples(tmp_path / "whole")
    marks = [line["mark"] for line in samples(tmp_path / "whole") if line.get("explored")]
    assert len(marks) == len(set(marks)) == 8, "no step explores what an earlier one has measured"


# --------------------------------------------------------------------------------------------- answers that go on


def test_a_prompt_ends_with_the_lines_that_its_answers_go_on_from() -> None:
    one = judge(begun(Diversity(None, shown=1.0, go_on=True), CHAIN))
    asked = PromptMaker(one)({"row": list(range(60))})["prompt"]
    rows = [one.progress.row(number) for number in range(60)]
    lines = CHAIN.splitlines(keepends=True)
    assert [row.beginning for row in rows] == [one.progress.row(number).beginning for number in range(60)]
    assert {row.beginning for row in rows} == {"".join(lines[:count]) for count in (1, 2, 3)}
    assert asked == [PROMPTS.ask(GEMM) + row.beginning for row in rows]


def test_an_answer_is_the_beginning_and_what_the_policy_adds(tmp_path: Path) -> None:
    one = judge(begun(Diversity(None, shown=1.0, go_on=True), CHAIN), tmp_path)
    more = ["tile(p in gemm, size=64)\n", "tile(p in gemm, size=128)\n"] * 2
    step(one, 0, more)
    wanted = [one.progress.row(at // 2).beginning + text for at, text in enumerate(more)]
    assert [line["schedule"] for line in samples(tmp_path)] == wanted
    for line in samples(tmp_path):
        made = PROMPTS.read(GEMM, line["schedule"]).program
        assert made is not None and one.has("gemm", made.text)


def test_a_beginning_that_a_stage_does_not_permit_is_shown_instead() -> None:
    from maxcode.search.stages import Stage, Stages

    stages = Stages((Stage("plain", frozenset({"unrolling"})), Stage("hints", frozenset({"restrict", "unrolling"}))))
    kept = PROMPTS.read(GEMM, CHAIN).program
    assert kept is not None
    progress = ArchiveProgress([GEMM], 2, Diversity(stages, promotion=False, shown=1.0, go_on=True))
    progress.begin({"gemm": [Kept(("unrolling",), kept, 1.0, BEFORE, CHAIN)]})
    rows = [progress.row(number) for number in range(60)]
    assert {row.stage for row in rows if "restrict" in row.beginning} == {1}
    assert any(row.stage == 0 and row.shown is not None and not row.beginning for row in rows)


def test_decoding_goes_on_from_the_beginning_and_forgets_the_claims_of_the_batch_before() -> None:
    tokenizer = train_tokenizer([PROMPTS.ask(GEMM) + CHAIN], 400, PIECES["schedule"])
    prompt, end = tokenizer.encode(PROMPTS.ask(GEMM)), tokenizer.eos_token_id
    first, *_, last = (tokenizer.encode(line) for line in CHAIN.splitlines(keepends=True))
    legal = Legal(tokenizer, [GEMM], PROMPTS, 60, lambda problem, text: False)

    def asked(number: int, *ids: int) -> list[int]:
        return legal(number, SimpleNamespace(tolist=lambda: [*prompt, *ids]))

    assert end in asked(0, *first), "a batch of answers that begin with a line; the first may end there"
    assert end not in asked(1, *first)
    assert asked(0, *first, last[0])
    assert end not in asked(1, *first), "it is still the same batch"
    assert asked(0, *first), "another batch"
    assert end not in asked(1, *first), "whose first answer has come to it"
    asked(0)
    assert end in asked(1, *first)


# ---------------------------------------------------------------------------------------------------------- whole runs


def config(**changes: Any) -> TrainConfig:
    told: dict[str, Any] = {"grpo": {**TABLE["grpo"], "distinct": True, "explore": 1}}  # type: ignore[dict-item]
    told |= {
        "diversity": {"stages": "none", "begin": "corpus", "shown": 1.0, "go_on": True},
        "imitation": {"updates": 1},
    }
    return toy(**{"completion": "schedule", "assess": {"samples": 0}, **told, **changes})


def test_both_are_asked_only_of_policies_that_write_schedules() -> None:
    for key, changes in (
        (r"grpo\.explore = 1", {"grpo": {**TABLE["grpo"], "explore": 1}}),  # type: ignore[dict-item]
        (r"diversity\.go_on = true", {"diversity": {"go_on": True}}),
    ):
        with pytest.raises(InputError, match=key + r' is about schedules; set completion = "schedule"'):
            toy(**changes)
        assert toy(completion="schedule", **changes).completion == "schedule"


@pytest.mark.slow
def test_a_run_explores_goes_on_from_its_archive_and_is_resumed_as_the_unbroken_one(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(config(), whole, TableBench())
    lines = samples(whole / "grpo")
    own = [line for line in lines if not line.get("explored")]
    assert (len(own), len(lines) - len(own)) == (24, 6)
    assert all(line["outcome"] == "correct" for line in lines)
    assert len({line["mark"] for line in lines}) > 0.9 * len(lines), "nothing is measured twice"
    kept = json.loads((whole / "grpo" / "checkpoint-3" / FILE).read_text())["gemm"]["archive"]
    begins = tuple(one["schedule"].splitlines()[0] for one in kept)
    assert all(line["shown"] and line["schedule"].startswith(begins) for line in own)
    bench = TableBench()
    bench.training.dies_after = 18
    with pytest.raises(Exception, match=r"power|unhandled errors"):
        run(config(), broken, bench)
    assert 0 < len(samples(broken / "grpo")) < len(lines)
    run(config(), broken, TableBench())
    for name in ("grpo/samples.jsonl", "grpo/archive.json", "grpo/final/model.safetensors"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes(), name
