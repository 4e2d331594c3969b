"""The folder of prompts and answers: who gets a prompt, and which of several answers is kept."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import anyio
import pytest

from maxcode.errors import InputError, Unanswered
from maxcode.llm.clients import Message, ModelRequest
from maxcode.llm.questions import Questions


def request(draw: int, text: str = "Faster, please.") -> ModelRequest:
    return ModelRequest((Message("system", "Be brief."), Message("user", text)), draw=draw)


def told(questions: Questions, draw: int, text: str = "Faster, please.") -> str:
    return anyio.run(questions.complete, request(draw, text)).text


def test_a_prompt_is_given_to_one_asker_until_its_lease_ends(tmp_path: Path) -> None:
    questions = Questions(tmp_path / "asked")
    for draw in (1, 2):
        with pytest.raises(Unanswered):
            told(questions, draw, f"Faster, please ({draw}).")
    first, second = sorted(filter(None, (questions.take(), questions.take())), key=lambda one: one.prompt)
    assert first.id != second.id
    assert first.prompt == "Be brief.\n\nFaster, please (1)."
    later = Questions(tmp_path / "asked", clock=lambda: (tmp_path / "asked" / f"{first.id}.taken").stat().st_mtime + 5)
    assert later.take(60) is None and later.take(1) == first, "nobody answered it"


def test_prompts_with_the_same_text_say_that_there_are_others(tmp_path: Path) -> None:
    questions = Questions(tmp_path / "asked")
    for draw, text in ((1, "Faster."), (2, "Faster."), (3, "Smaller.")):
        with pytest.raises(Unanswered):
            told(questions, draw, text)
    prompts = [question.prompt for _ in range(3) if (question := questions.take()) is not None]
    alone = [prompt for prompt in prompts if prompt.endswith("Smaller.")]
    assert len(alone) == 1
    others = sorted(prompt.partition("\n\nThis is number ")[2][:6] for prompt in prompts if prompt not in alone)
    assert others == ["1 of 2", "2 of 2"]


def test_many_askers_at_once_get_different_prompts(tmp_path: Path) -> None:
    questions = Questions(tmp_path)
    for draw in range(20):
        with pytest.raises(Unanswered):
            told(questions, draw)
    with ThreadPoolExecutor(8) as pool:
        found = [question.id for question in pool.map(lambda _: questions.take(), range(20)) if question is not None]
    assert len(set(found)) == 20
    assert questions.take() is None


def test_an_answer_is_kept_and_answers_the_prompt_with_other_figures_too(tmp_path: Path) -> None:
    questions = Questions(tmp_path)
    with pytest.raises(Unanswered):
        told(questions, 7)
    taken = questions.take()
    assert taken is not None
    for name, text, words in ((taken.id, " \n", "the answer is empty"), ("no", "x", f"wait for an answer: {taken.id}")):
        with pytest.raises(InputError, match=words):
            questions.answer(name, text)
    questions.answer(taken.id, "mine")
    questions.answer(taken.id, "mine")
    with pytest.raises(InputError, match="is answered already"):
        questions.answer(taken.id, "another")
    assert told(questions, 7, "Faster than 3.1 ms, please.") == "mine"


def test_of_several_answers_at_once_one_is_kept_and_the_others_are_refused(tmp_path: Path) -> None:
    begin = Barrier(4)

    def given(questions: Questions, name: str, text: str) -> bool:
        begin.wait()
        if text == "no gain":
            questions.answer_open(text)
            return False
        try:
            questions.answer(name, text)
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        for turn in range(40):
            questions = Questions(tmp_path / str(turn))
            with pytest.raises(Unanswered):
                told(questions, turn)
            (name,) = questions.open()
            texts = ["a", "b", "c", "no gain"]
            kept = list(pool.map(given, [questions] * 4, [name] * 4, texts))
            assert sum(kept) <= 1
            assert dict(questions.answers()) == {name: texts[kept.index(True)] if any(kept) else "no gain"}


def test_a_prompt_whose_lease_has_ended_goes_to_one_of_several_askers(tmp_path: Path) -> None:
    with pytest.raises(Unanswered):
        told(Questions(tmp_path), 1)
    first = Questions(tmp_path).take()
    assert first is not None
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            os.utime(tmp_path / f"{first.id}.taken", (0, 0))
            together = Barrier(4)  # those who look at the clock wait for one another, if they can

            def clock(together: Barrier = together) -> float:
                with suppress(BrokenBarrierError):
                    together.wait(0.3)
                return time.time()

            found = list(pool.map(lambda one: one.take(60), [Questions(tmp_path, clock)] * 4))
            assert [one for one in found if one is not None] == [first]


def test_what_ends_a_run_leaves_an_answer_that_has_just_come(tmp_path: Path) -> None:
    questions = Questions(tmp_path)
    for draw in (1, 2):
        with pytest.raises(Unanswered):
            told(questions, draw)
    first, second = questions.open()
    questions.answer(first, "mine")
    questions.answer_open("no gain")
    assert dict(questions.answers()) == {first: "mine", second: "no gain"}
