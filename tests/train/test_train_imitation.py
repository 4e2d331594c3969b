"""Imitation after a step: the fastest of the archive become likelier, by the seed and the step alone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.problems import load
from maxcode.search.archive import Kept
from maxcode.search.stages import Stage, Stages
from maxcode.train.batches import Padded, encoded
from maxcode.train.config import ImitationTable
from maxcode.train.diversity import ArchiveProgress, Diversity
from maxcode.train.grpo import Learner
from maxcode.train.imitation import Imitation
from maxcode.train.model import PIECES, new_model, train_tokenizer
from maxcode.train.prompts import Scheduled
from tests.support.toy_run import DEMO, TABLE, toy

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

GEMM = load(DEMO / "gemm").problem
PROMPTS = Scheduled()
FAST, FAIR, SLOW = "accumulate(j in gemm)\n", "unroll(p in gemm, factor=4)\n", "tile(j in gemm, size=64)\n"
TABLE_OF_TWO = ImitationTable(updates=3, share=0.5, least=2, batch=8)


def archive(rules: Diversity) -> ArchiveProgress:
    found = ArchiveProgress([GEMM], 1, rules)
    kept = []
    for schedule, cell, quality in ((SLOW, ("tiling",), 1.0), (FAST, (), 9.0), (FAIR, ("unrolling",), 5.0)):
        program = PROMPTS.read(GEMM, schedule).program
        assert program is not None
        kept.append(Kept(cell, program, quality, 0, schedule))
    found.begin({"gemm": kept})
    return found


def policy() -> Learner:
    tokenizer = train_tokenizer([PROMPTS.ask(GEMM) + FAST + FAIR + SLOW], 400, PIECES["schedule"])
    return Learner(new_model(toy().model.scratch, tokenizer, 0), tokenizer)


def imitation(table: ImitationTable, rules: Diversity, tokenizer: Any) -> Imitation:
    told = replace(toy(completion="schedule"), imitation=table)
    return Imitation(told, archive(rules), PROMPTS, tokenizer)


def losses(learner: Learner, problem: Problem = GEMM) -> list[float]:
    """Of each schedule, as the answer to the prompt of a problem."""
    import torch

    found = []
    for schedule in (FAST, FAIR, SLOW):
        batch = Padded(learner.tokenizer.pad_token_id)(
            encoded([(PROMPTS.ask(problem), schedule)], learner.tokenizer, 100)
        )
        with torch.no_grad():
            found.append(float(learner.model(**batch).loss))
    return found


def test_the_fastest_become_likelier_and_the_same_seed_and_step_give_the_same_weights() -> None:
    import torch

    weights = []
    for _ in range(2):
        learner = policy()
        before = losses(learner)
        optimizer = torch.optim.AdamW(learner.model.parameters(), lr=3e-3)
        one = imitation(TABLE_OF_TWO, Diversity(None), learner.tokenizer)
        norms = [one.after(step, learner.model, optimizer) for step in range(8)]
        assert all(norm > 0 for norm in norms)
        gains = [was - now for was, now in zip(before, losses(learner), strict=True)]
        assert min(gains[:2]) > 0.5 + gains[2], "the slowest of three is none of the fastest two"
        weights.append(torch.cat([one.flatten() for one in learner.model.state_dict().values()]))
    assert torch.equal(*weights)


def test_only_the_best_of_each_cell_is_imitated_if_so_asked() -> None:
    learner, two = policy(), replace(TABLE_OF_TWO, batch=40)
    same = replace(archive(Diversity(None)).archive("gemm").fastest()[1], cell=())  # as fast as FAST, nearly
    for elites, wanted in ((False, {FAST, FAIR}), (True, {FAST, SLOW})):
        one = imitation(replace(two, elites=elites), Diversity(None), learner.tokenizer)
        progress = ArchiveProgress([GEMM], 1, Diversity(None))
        progress.begin({"gemm": [same, *(each for each in one.progress.archive("gemm") if each.schedule != FAIR)]})
        texts = {
            learner.tokenizer.decode(row["input_ids"])
            for row in replace(one, progress=progress)._rows(random.Random(0))
        }
        assert {schedule for schedule in (FAST, FAIR, SLOW) if any(schedule in text for text in texts)} == wanted


def test_without_updates_nothing_is_learned_and_an_empty_archive_teaches_nothing() -> None:
    import torch

    learner = policy()
    before = losses(learner)
    optimizer = torch.optim.AdamW(learner.model.parameters(), lr=3e-3)
    assert imitation(ImitationTable(), Diversity(None), learner.tokenizer).after(0, learner.model, optimizer) == 0.0
    one = imitation(TABLE_OF_TWO, Diversity(None), learner.tokenizer)
    empty = replace(one, progress=ArchiveProgress([GEMM], 1, Diversity(None)))
    assert empty.after(0, learner.model, optimizer) == 0.0
    assert losses(learner) == before


def test_a_kernel_is_the_answer_to_prompts_of_stages_that_permit_it() -> None:
    learner = policy()
    stages = Stages((Stage("orders", frozenset({"restrict"})), Stage("blocks", frozenset({"unrolling"}))))
    one = imitation(replace(TABLE_OF_TWO, least=3, batch=40), Diversity(stages), learner.tokenizer)
    texts = {learner.tokenizer.decode(row["input_ids"]) for row in one._rows(random.Random(0))}
    assert {"//unrolling" in text for text in texts if FAIR in text} == {True}
    assert {"//unrolling" in text for text in texts if FAST in text} == {True, False}


def test_a_divergence_is_told_as_a_norm() -> None:
    import torch

    learner = policy()
    for one in learner.model.parameters():
        one.data.fill_(float("nan"))
    optimizer = torch.optim.AdamW(learner.model.parameters())
    norm = imitation(TABLE_OF_TWO, Diversity(None), learner.tokenizer).after(0, learner.model, optimizer)
    assert norm != norm


def test_imitation_and_new_programs_are_asked_only_of_policies_that_can() -> None:
    with pytest.raises(InputError, match="only a policy from scratch imitates"):
        toy(imitation={"updates": 1}, model={"path": "folder"})
    with pytest.raises(InputError, match=r"only of a schedule .*grpo\.distinct = false"):
        toy(grpo={**TABLE["grpo"], "distinct": True})  # type: ignore[dict-item]
