"""A policy that writes schedules: its prompts, its corpus, its tokens, legal decoding, and a whole run on a table."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.policy.rules.kernels.schedule import applied, needs, offers
from maxcode.problems import load
from maxcode.search.archive import Kept
from maxcode.search.stages import USUAL
from maxcode.train import corpus as kernels
from maxcode.train.config import CorpusTable, TrainConfig
from maxcode.train.decoding import Legal
from maxcode.train.diversity import BEFORE
from maxcode.train.grpo import prompts_of
from maxcode.train.model import PIECES, load_tokenizer, train_tokenizer
from maxcode.train.pipeline import run
from maxcode.train.prompts import ON_ONE_CORE, Scheduled, plain_layout
from tests.support.toy_run import DEMO, TABLE, TableBench, toy

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"), pytest.mark.heavy]

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = load(DEMO / "gemm").problem
STENCIL = load(EXAMPLES / "stencil").problem
PROMPTS = Scheduled()
TABLE_OF_KERNELS = CorpusTable(kernels=400, steps=4)
MOST = 60


def config(**changes: object) -> TrainConfig:
    fresh = {"grpo": {**TABLE["grpo"], "distinct": True}, "imitation": {"updates": 1}}  # type: ignore[dict-item]
    corpus = {"corpus": {**TABLE["corpus"], "steps": 3}}  # type: ignore[dict-item]
    return toy(**{"completion": "schedule", **corpus, **fresh, **changes})


@pytest.fixture(scope="module")
def corpus() -> list[kernels.Example]:
    return list(kernels.examples([GEMM, STENCIL], TABLE_OF_KERNELS, 3, "schedule"))


@pytest.fixture(scope="module")
def tokenizer(corpus: list[kernels.Example]) -> Any:
    return train_tokenizer((one.prompt + one.completion for one in corpus), 768, PIECES["schedule"])


# ------------------------------------------------------------------------------------------------------------- prompts


def test_a_prompt_holds_the_permission_the_loop_nests_and_the_schedule_that_is_shown() -> None:
    shown = Kept((), GEMM.program, 3.0, 1, "accumulate(j in gemm)\n")
    assert PROMPTS.ask(USUAL[0].of(GEMM), [shown]) == (
        "<bos>//gemm\n//restrict\n//simd\n//loops\n"
        "gemm\n.i\n..j\n...sum =\n...p\n....sum += A[i p] B[p j]\n...C[i j] =\n"
        "//from\naccumulate(j in gemm)\n//to\n"
    )


def test_a_completion_is_the_kernel_that_its_schedule_makes_or_says_why_not() -> None:
    problem = USUAL[0].of(GEMM)
    action = PROMPTS.read(problem, text := "accumulate(j in gemm)\nsimd(j in gemm, as=ivdep)\n")
    assert action.program is not None
    assert "#pragma GCC ivdep" in action.program.text
    assert PROMPTS.schedule(action) == action.completion == text
    wrong = {
        "": "the schedule has no line",
        "tile(j in gemm, size=64)\n": "the step 'tile' is not permitted",
        "product(i in gemm)": "the step 'product' is not permitted",
        "simd(j in gemm, as": "write step",
    }
    for completion, why in wrong.items():
        refused = PROMPTS.read(problem, completion)
        assert (refused.program, refused.completion) == (None, completion)
        assert why in refused.unread
    assert Scheduled(templates=True).read(GEMM, "product(i in gemm, template=direct, MR=4, NV=2, VL=4)").program


def test_the_problems_of_a_training_are_folders_and_names_in_suites() -> None:
    found = config(problems=["gemm", "polybench:syrk/SMALL", "/anywhere"], grpo={**TABLE["grpo"], "prompts": 3})  # type: ignore[dict-item]
    assert found.paths == (DEMO / "gemm", Path("polybench:syrk/SMALL"), Path("/anywhere"))


def test_schedules_are_a_choice_of_the_configuration() -> None:
    assert prompts_of(toy()) != prompts_of(config()) == Scheduled(templates=False)
    assert prompts_of(config(corpus={"templates": True})) == Scheduled(templates=True)
    with pytest.raises(InputError, match=r'set model\.prompts = "compact"'):
        config(model={"prompts": "chat"})
    with pytest.raises(InputError, match=r"take out model\.path and grpo\.vllm"):
        config(grpo={**TABLE["grpo"], "vllm": {}})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="needs our own tokens"):
        config(model={"path": "folder", "prompts": "compact"})


# -------------------------------------------------------------------------------------------------------------- corpus


def test_every_schedule_of_the_corpus_is_legal_by_its_prompt_and_makes_its_kernel(
    corpus: list[kernels.Example],
) -> None:
    by_id = {problem.id: problem for problem in (GEMM, STENCIL)}
    shown = turned = 0
    for one in corpus:
        head, _, rest = one.prompt.removeprefix("<bos>").partition("//loops\n")
        permitted = frozenset(line[2:] for line in head.splitlines()[1:])
        action = PROMPTS.read(replace(by_id[one.problem], permitted=permitted), one.completion)
        assert action.program is not None, action.unread
        assert plain_layout(action.program.text) + "\n" == one.kernel
        earlier = rest.partition("//from\n")[2].removesuffix("//to\n")
        assert one.schedule.startswith(earlier.partition("\n")[0])
        assert needs(earlier) <= permitted
        shown += earlier != ""
        turned += not one.schedule.startswith(earlier)
    assert 80 < shown < 200 and 25 < turned < 100
    assert len(kernels.distinct(corpus)) > 100
    assert corpus == list(kernels.examples([GEMM, STENCIL], TABLE_OF_KERNELS, 3, "schedule"))


def test_without_stages_every_prompt_of_the_corpus_permits_what_those_of_training_do() -> None:
    few = CorpusTable(kernels=20, steps=3)
    (head,) = {one.prompt.partition("//loops")[0] for one in kernels.examples([GEMM], few, 3, "schedule", staged=False)}
    assert head == PROMPTS.ask(GEMM).partition("//loops")[0]
    assert frozenset(line[2:] for line in head.splitlines()[1:]) == ON_ONE_CORE


def test_no_schedule_writes_a_pragma_that_the_flags_do_not_enable(corpus: list[kernels.Example]) -> None:
    """The flags of the demonstration's gemm enable OpenMP's pragmas, those of the stencil do not."""
    omp = {one.problem for one in corpus if "as=omp" in one.schedule or "as=reduction" in one.schedule}
    assert omp == {"gemm"}
    assert any("as=ivdep" in one.schedule for one in corpus if one.problem == "stencil")
    assert (PROMPTS.allowed(GEMM).simd_pragmas, PROMPTS.allowed(STENCIL).simd_pragmas) == (True, False)


def test_a_problem_without_a_step_has_no_corpus() -> None:
    empty = replace(GEMM, program=GEMM.program.with_text("int x;\n"))
    with pytest.raises(InputError, match=r"gemm has no corpus: no step .* leave it out"):
        list(kernels.examples([empty], TABLE_OF_KERNELS, 3))


def test_a_completion_is_a_few_dozen_tokens(corpus: list[kernels.Example], tokenizer: Any) -> None:
    sizes = sorted(len(tokenizer.encode(one.completion)) for one in corpus)
    assert sizes[len(sizes) // 2] <= 30
    assert sizes[-1] <= MOST
    for one in corpus[:50]:
        assert tokenizer.decode(tokenizer.encode(one.completion)) == one.completion
        lines = one.completion.splitlines(keepends=True)
        assert [token for line in lines for token in tokenizer.encode(line)] == tokenizer.encode(one.completion)


# ------------------------------------------------------------------------------------------------------------ decoding


def written(legal: Legal, tokenizer: Any, problem: Problem, generator: random.Random) -> list[int]:
    """An answer of which every token is drawn evenly from the legal ones."""
    prompt = tuple(tokenizer.encode(PROMPTS.ask(problem)))
    answer: list[int] = []
    while len(answer) < MOST and answer[-1:] != [tokenizer.eos_token_id]:
        answer.append(generator.choice(legal.next(prompt, tuple(answer))))
    return answer


@pytest.mark.parametrize("problem", [GEMM, STENCIL], ids=lambda problem: problem.id)
def test_any_choice_of_legal_tokens_is_a_legal_schedule_that_ends_in_time(problem: Problem, tokenizer: Any) -> None:
    """Also for a policy that knows nothing, at every stage."""
    legal = Legal(tokenizer, [GEMM, STENCIL], PROMPTS, MOST)
    lengths = set()
    for number in range(24):
        staged = USUAL[number % len(USUAL)].of(problem)
        answer = written(legal, tokenizer, staged, random.Random(number))
        action = PROMPTS.read(staged, tokenizer.decode(answer, skip_special_tokens=True))
        assert action.program is not None, action.unread
        assert answer[-1] == tokenizer.eos_token_id
        lengths.add(len(answer))
    assert len(lengths) > 5


def test_an_answer_ends_where_its_program_is_new_and_no_other_of_its_batch_may_end(tokenizer: Any) -> None:
    prompt, end = tuple(tokenizer.encode(PROMPTS.ask(GEMM))), tokenizer.eos_token_id
    line = tuple(tokenizer.encode("accumulate(j in gemm)\n"))
    made = PROMPTS.read(GEMM, "accumulate(j in gemm)\n").program
    assert made is not None
    asked: list[str] = []

    def known(problem: str, text: str) -> bool:
        asked.append(problem)
        return text == made.text if len(asked) == 1 else False

    legal = Legal(tokenizer, [GEMM], PROMPTS, MOST, known)
    assert end not in legal.next(prompt, line, 3), "it is known"
    assert end in legal.next(prompt, line, 3)
    assert end not in legal.next(prompt, line, 4), "another answer has come to it first"
    legal(0, SimpleNamespace(tolist=lambda: [*prompt]))
    legal(1, SimpleNamespace(tolist=lambda: [*prompt]))
    assert end in legal.next(prompt, line, 4), "another batch"
    short = Legal(tokenizer, [GEMM], PROMPTS, len(line) + 2, lambda problem, text: True)
    assert short.next(prompt, line) == [end], "nothing more fits"
    assert set(asked) == {"gemm"}


def test_the_end_is_legal_after_whole_lines_and_alone_where_nothing_more_fits(tokenizer: Any) -> None:
    prompt, end = tuple(tokenizer.encode(PROMPTS.ask(GEMM))), tokenizer.eos_token_id
    line = tuple(tokenizer.encode("accumulate(j in gemm)\n"))
    legal = Legal(tokenizer, [GEMM], PROMPTS, MOST)
    assert end not in legal.next(prompt, ()), "a schedule has a line"
    assert end not in legal.next(prompt, line[:-1])
    assert end in legal.next(prompt, line) and len(legal.next(prompt, line)) > 3
    assert legal.next(prompt, (*line, end)) == [end]
    short = Legal(tokenizer, [GEMM], PROMPTS, len(line) + 2)
    assert short.next(prompt, line) == [end]


def next_lines(legal: Legal, tokenizer: Any, problem: Problem, schedule: str) -> set[str]:
    """The lines that a policy may write after a schedule."""
    prompt, found, waiting = tuple(tokenizer.encode(PROMPTS.ask(problem))), set[str](), [tuple[int, ...]()]
    begun = tuple(tokenizer.encode(schedule))
    while waiting:
        part = waiting.pop()
        text = tokenizer.decode(part)
        if text.endswith("\n"):
            found.add(text)
        else:
            following = legal.next(prompt, (*begun, *part))
            waiting += [(*part, token) for token in following if token != tokenizer.eos_token_id]
    return found


def test_a_policy_writes_no_needless_line_and_goes_on_from_a_schedule_that_has_one(tokenizer: Any) -> None:
    legal = Legal(tokenizer, [GEMM], PROMPTS, 160)
    tiled = "accumulate(j in gemm)\ntile(p in gemm, size=16)\n"
    again = {f"retune(TILE_P, value={size})\n" for size in (8, 24, 32)}
    for line in again:
        assert PROMPTS.read(GEMM, tiled + line).program is not None, "it is legal"
    after = next_lines(legal, tokenizer, GEMM, tiled)
    assert after and not after & again, "they are tiles of another size"
    turned = "accumulate(j in gemm)\ninterchange(j#2 in gemm, inner=p)\n"
    back = "interchange(p in gemm, inner=j)\n"
    assert PROMPTS.read(GEMM, turned + back).program == PROMPTS.read(GEMM, "accumulate(j in gemm)\n").program
    assert back not in next_lines(legal, tokenizer, GEMM, turned)
    old = tiled + "retune(TILE_P, value=8)\n"
    assert "restrict(gemm)\n" in next_lines(legal, tokenizer, GEMM, old), "a beginning from an archive"


def test_without_needless_lines_as_many_lines_make_the_same_programs(tokenizer: Any) -> None:
    small = replace(GEMM, permitted=frozenset({"restrict", "simd"}))
    legal, allowed, original = Legal(tokenizer, [GEMM], PROMPTS, 160), PROMPTS.allowed(small), small.program.text
    every, written = {original: ""}, {"": original}
    for _ in range(2):
        for text, schedule in list(every.items()):
            for label in offers("c", text, allowed, original):
                every.setdefault(applied(text, "c", label, allowed), f"{schedule}{label}\n")
        for schedule in list(written):
            for line in next_lines(legal, tokenizer, small, schedule):
                written[schedule + line] = applied(original, "c", schedule + line, allowed)
    assert {*written.values()} == {*every} and len(every) > 30


# --------------------------------------------------------------------------------------------------------- a whole run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scheduled") / "run"
    run(config(assess={"samples": 16}), out, TableBench())
    return out


@pytest.mark.slow
def test_a_run_learns_and_nearly_all_its_answers_are_legal(finished: Path) -> None:
    told = json.loads((finished / "result.json").read_text())
    assert told["before"]["all"]["answers"] == told["after"]["all"]["answers"] == 64
    for when in ("before", "after"):
        assert told[when]["all"]["valid"]["value"] >= 0.98
        assert told[when]["all"]["unique"] > 0.3
    steps = [json.loads(line) for line in (finished / "grpo" / "steps.jsonl").read_text().splitlines()]
    assert [line["step"] for line in steps] == [0, 1, 2]
    assert all(line["valid"] == 1.0 for line in steps)
    samples = [json.loads(line) for line in (finished / "grpo" / "samples.jsonl").read_text().splitlines()]
    assert all(PROMPTS.read(GEMM, one["schedule"]).program for one in samples)
    assert len({one["mark"] for one in samples}) > 0.9 * len(samples), "an answer repeats nothing that is measured"
    best = PROMPTS.read(GEMM, (finished / "best" / "schedule.txt").read_text()).program
    assert best is not None and best.text == (finished / "best" / "gemm.c").read_text()
    kept = json.loads((finished / "grpo" / "checkpoint-3" / "diversity.json").read_text())["gemm"]["archive"]
    assert kept
    for one in kept:
        (text,) = one["program"]["files"].values()
        made = PROMPTS.read(GEMM, one["schedule"]).program
        assert made is not None and made.text == text


@pytest.mark.slow
def test_a_run_that_goes_on_is_the_unbroken_one(finished: Path, tmp_path: Path) -> None:
    bench = TableBench()
    bench.training.dies_after = 4
    with pytest.raises(Exception, match=r"power|unhandled errors"):
        run(config(assess={"samples": 16}), tmp_path, bench)
    run(config(assess={"samples": 16}), tmp_path, TableBench())
    for name in ("corpus.jsonl", "grpo/samples.jsonl", "after/answers.jsonl"):
        assert (tmp_path / name).read_bytes() == (finished / name).read_bytes(), name
    again = load_tokenizer(str(finished / "pretrained"), "compact")
    assert len(again.encode("simd(p in gemm, as=reduction)\n")) < 12


@pytest.mark.slow
def test_an_archive_that_begins_with_the_corpus_shows_its_schedules_in_the_first_prompts(tmp_path: Path) -> None:
    begun = config(diversity={"begin": "corpus", "shown": 1.0}, assess={"samples": 0})
    run(begun, tmp_path, TableBench())
    samples = [json.loads(line) for line in (tmp_path / "grpo" / "samples.jsonl").read_text().splitlines()]
    assert any(one["shown"] for one in samples if one["step"] == 0)
    kept = json.loads((tmp_path / "grpo" / "checkpoint-3" / "diversity.json").read_text())["gemm"]["archive"]
    corpus = [one for one in kept if one["made"] == BEFORE]
    assert len(corpus) == 3 and all(one["schedule"] and one["quality"] > 1 for one in corpus)
    assert list((tmp_path / "best").iterdir())
    with pytest.raises(InputError, match=r"a given model \(model.path\) has no corpus"):
        config(completion="text", diversity={"begin": "corpus"}, model={"path": "folder"})
