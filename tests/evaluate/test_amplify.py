"""An original that ends too soon to be timed is timed on inputs made larger, and one slow run does not hide it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from maxcode.core.phases import RUN, recording
from maxcode.core.types import Action, Evaluation
from maxcode.evaluate.inputs.proving import Candidate, GeneratedInputs, Prover, Terms
from maxcode.evaluate.ladder.build import Builder
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.ladder.verify import Verified, verify
from maxcode.evaluate.program import admission
from maxcode.evaluate.program.evaluator import ProgramEvaluator
from maxcode.sandbox.sandbox import Blob, Sandbox
from tests.evaluate.test_unseen import FAST, answer, problem_of


@pytest.mark.slow
def test_an_original_that_ends_too_soon_is_timed_on_its_inputs_made_larger(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    problem = problem_of(tmp_path, (3, 5, 12, 40, 60, 90, 120, 150))

    async def raced() -> tuple[Admitted, Evaluation]:
        bench = ProgramEvaluator(sandbox, builder)
        admitted = await bench.admit(problem)
        return admitted, await bench.evaluate(admitted.problem, Action(admitted.problem.program.with_text(FAST)))

    admitted, found = anyio.run(raced)
    assert {given.origin for given in admitted.timed} == {"made"}
    assert all(given.seconds >= 0.02 for given in admitted.timed)
    assert any("made larger" in note for note in admitted.notes)
    for given in admitted.timed:
        n, *numbers = map(int, given.stdin.read().split())
        assert (len(numbers), given.expected) == (n, f"{answer(numbers)}\n".encode())
    assert found.timing is not None
    assert found.timing.significant


def test_a_generator_that_takes_a_size_is_asked_for_larger_ones(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    text = "import random, sys\nr = random.Random(int(sys.argv[1]))\nn = int(sys.argv[2])\nprint(n)\n"
    (tmp_path / "gen.py").write_text(text + "print(*(r.randint(-100, 100) for _ in range(n)))\n")
    problem = problem_of(tmp_path, (1, 2))
    words = ("python3", "gen.py", "{seed}", "{size}")
    spec = replace(problem.spec, generator=words, generated=2, size=50, folder=str(tmp_path))

    async def admit() -> Admitted:
        return await ProgramEvaluator(sandbox, builder).admit(replace(problem, spec=spec))

    admitted = anyio.run(admit)
    assert [int(one.stdin.read().split()[0]) for one in admitted.inputs if one.origin == "generated"] == [50, 50]
    assert all(int(one.stdin.read().split()[0]) > 1000 for one in admitted.timed)
    assert any("the generator's size" in note for note in admitted.notes)

    (tmp_path / "gen.py").write_text(
        text.replace("print(n)", "assert n < 500, 'at most 500'\nprint(n)") + "print(*[1] * n)\n"
    )
    note = anyio.run(admit).notes[-1]
    assert "the generator's inputs of 16 times the size cannot be made: the input generator `python3" in note
    assert "at most 500" in note and note.endswith("; those of 4 times are still too short)")


def test_what_cannot_be_made_larger_stays_not_measurable_with_the_reason(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    async def admit() -> Admitted:
        return await ProgramEvaluator(sandbox, builder).admit(problem_of(tmp_path, (3, 5)))

    admitted = anyio.run(admit)
    assert admitted.timed == ()
    assert "not measurable" in admitted.notes[-1]
    assert "larger inputs" in admitted.notes[-1]
    assert "the format is read from 3 or more different tests" in admitted.notes[-1]


def test_one_hiccup_makes_no_input_long_enough(
    sandbox: Sandbox, builder: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    async def slow_at_first(*given: Any, **options: Any) -> Verified:
        found = await verify(*given, **options)
        runs.append([one.name for one in found.results])
        late = 0.03 if len(runs) == 1 else 0.0
        return replace(found, results=tuple(replace(one, seconds=one.seconds + late) for one in found.results))

    async def admit() -> Admitted:
        return await ProgramEvaluator(sandbox, builder).admit(problem_of(tmp_path, (3, 5)))

    monkeypatch.setattr(admission, "verify", slow_at_first)
    admitted = anyio.run(admit)
    assert admitted.timed == () and "not measurable" in admitted.notes[-1]
    assert [sorted(names) for names in runs[1:]] == [["00", "01"]] and all(
        one.seconds < 0.03 for one in admitted.inputs
    )


def test_no_more_are_tried_when_those_left_out_have_taken_the_time_too(
    sandbox: Sandbox, builder: Builder, tmp_path: Path
) -> None:
    made = [
        Candidate(Blob.of(f"20000\n{' '.join(map(str, range(n, n + 20_000)))}\n".encode()), "made") for n in range(40)
    ]

    async def tried() -> tuple[GeneratedInputs, int]:
        admitted = await ProgramEvaluator(sandbox, builder).admit(problem_of(tmp_path, (3, 5)))
        with recording() as recorder:
            found = await Prover(sandbox, builder).answered(admitted, made, Terms("made", 0.05))
        return found, sum(one.count for one in recorder.profile().phases if one.activity == RUN)

    found, runs = anyio.run(tried)
    assert runs < 30 and len(found.inputs) < 20  # 40 and more without a bound; one takes 10 ms or more
    assert all(one.seconds > 0.002 for one in found.inputs)
