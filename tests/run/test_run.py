"""What is refused or filled in before a run begins, and what is said while it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from maxcode.core.method import Method
from maxcode.core.types import Action, Evaluation, Observation, Outcome, Problem, Program, Step, Usage
from maxcode.errors import InputError
from maxcode.llm.clients import Message
from maxcode.llm.clients.connect import ModelSettings
from maxcode.llm.journal import CALLS
from maxcode.observe import compose
from maxcode.run.complete_request import completed
from maxcode.run.dry_run import Preview, first_prompt
from maxcode.run.estimate import Estimate, Spending, total
from maxcode.run.model_tables import model_tables
from maxcode.run.optimize import Run, optimize
from maxcode.run.progress import SearchProgress
from maxcode.run.record import (
    Batch,
    Critiqued,
    Evaluated,
    Opened,
    Proposed,
    Record,
    Settled,
    check_header,
    read_events,
)
from maxcode.run.request import Request
from maxcode.search import Refine
from maxcode.testing import Scripted, Table, toy_problem
from tests.support.counting import SLOW


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A source, a test, and a run of a language model to be replayed."""
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "01.in").write_text("10\n")
    (tmp_path / "tests" / "01.out").write_text("45\n")
    check_header(tmp_path / "run", {"policy": "llm:big"}, frozenset())
    (tmp_path / "run" / CALLS).write_bytes(b"")
    return tmp_path


def replayed(place: Path, policy: str, out: Path | None = None) -> Request:
    request = Request(place / "slow.c", place / "tests", policy, replay=place / "run", out=out)
    return completed(request).request


def test_a_replay_without_a_language_model_is_refused_and_names_the_one_of_its_run(place: Path) -> None:
    with pytest.raises(InputError, match=r"neither --policy rewriter nor --critic rules is one.* --policy llm:big"):
        replayed(place, "rewriter")


@pytest.mark.parametrize("method", ["elites", "elites+maxcode", "sqd+rerank"])
def test_methods_that_tell_programs_apart_by_techniques_are_refused_in_python(place: Path, method: str) -> None:
    (place / "slow.py").write_text("print(sum(range(int(input()))))\n")
    request = Request(place / "slow.c", place / "tests", "llm:big", method)
    assert completed(request).request.method == method
    with pytest.raises(InputError, match=r"read in C and C\+\+ only, not in Python; choose another method"):
        completed(replace(request, source=place / "slow.py"))


def test_a_replay_does_not_write_to_the_run_that_it_replays(place: Path) -> None:
    assert replayed(place, "llm:big", place / "again").policy == "llm:big"
    with pytest.raises(InputError, match="would write to the run that it replays; choose another --out"):
        replayed(place, "llm:big", place / "tests" / ".." / "run")


def test_a_replay_of_the_usual_folder_goes_to_a_folder_of_its_own(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    usual = Path("runs") / "slow-cuda-llm+maxcode-0"
    usual.mkdir(parents=True)
    (place / "run").rename(place / "kept")
    (usual / CALLS).write_bytes(b"")
    request = Request(place / "slow.c", place / "tests", "llm:big", replay=usual)
    assert completed(request).request.replay == usual


def test_the_usual_folder_names_what_the_user_chose_and_older_names_are_found(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    request = Request(place / "slow.c", place / "tests")
    usual = completed(request).folder
    assert usual == Path("runs", f"{place.name}-slow")
    assert completed(replace(request, method="refine", seed=3)).folder == Path(
        "runs", f"{place.name}-slow-refine-seed-3"
    )
    check_header(before := Path("runs", f"{place.name}-slow-cuda-llm+maxcode-0"), {"policy": "rewriter"}, frozenset())
    assert completed(request).folder == before
    check_header(usual, {"policy": "rewriter"}, frozenset())
    assert completed(request).folder == usual


@pytest.mark.parametrize("value", ["3", '"gpt"', "[1]"])
def test_settings_of_models_that_are_no_table_are_refused(value: str, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(f"model = {value}\n")
    with pytest.raises(InputError, match=r"`model`: expected a table, got .*; write its keys in braces, \{ key"):
        model_tables(tmp_path / "models.toml", {}, {})


def test_a_preview_says_plainly_that_no_model_is_asked() -> None:
    told = Preview((Message("user", "hi"),), 1).as_text()
    assert told.endswith("first prompt about 1 tokens; the policy and the critic are no language models, so the run "
                         "makes no calls")  # fmt: skip
    found = Estimate(*(Spending(8, 300 * n, 100 * n, 0.037 * n) for n in (1, 2, 3)))
    assert "8 candidates about 8 model calls, 800 (400 to 1200) tokens, $0.074 ($0.037 to $0.11)" in (
        Preview((), 40, candidates=8, estimate=found).as_text()
    )
    unknown = Estimate(*(Spending(8, 300, 100, None) for _ in range(3)))
    assert "about 8 model calls, 400 tokens, price unknown" in unknown.words()


@pytest.mark.sandbox
@pytest.mark.parametrize("critic", ["rules", "llm", "llm:small"])
def test_a_dry_run_tells_what_a_run_would_cost_where_all_prices_are_known(
    critic: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    prices = {"big": '"big" = { input = 10.0, output = 100.0 }', "small": '"small" = { input = 1.0, output = 2.0 }'}

    def shown(*known: str) -> Preview:
        (place / "prices.toml").write_text("\n".join(prices[name] for name in known))
        models = ModelSettings(prices=place / "prices.toml")
        asked = Request(place / "slow.c", place / "tests", "llm:big", "cuda-llm+maxcode", critic, models=models)
        return first_prompt(asked)

    found, partly = shown("big", "small"), shown("small")
    usual = found.estimate.expected
    big = (10 * usual.prompt_tokens + 100 * usual.completion_tokens) / 1e6
    assert found.dollars is not None and found.dollars == usual.dollars
    assert found.dollars < big if critic == "llm:small" else found.dollars == pytest.approx(big)
    low, high = found.estimate.low.dollars, found.estimate.high.dollars
    assert low is not None and high is not None and low < found.dollars < high
    assert partly.dollars is partly.estimate.low.dollars is partly.estimate.high.dollars is None
    assert partly.calls == found.calls
    assert found.calls == 24 if critic == "rules" else 24 < found.calls < 48


@pytest.mark.sandbox
@pytest.mark.parametrize("critic", ["rules", "llm:small"])
def test_a_dry_run_says_that_what_a_coding_agent_spends_is_not_known(critic: str, place: Path) -> None:
    (place / "prices.toml").write_text('"small" = { input = 1.0, output = 2.0 }\n')
    models = ModelSettings(prices=place / "prices.toml")
    request = Request(place / "slow.c", place / "tests", "agent:true", "cuda-llm+maxcode", critic, models=models)
    found = first_prompt(request)
    told = found.as_text().rpartition("----- estimate")[2]
    assert "24 candidates, each a session of the coding agent, whose calls and price cannot be estimated" in told
    assert "no calls" not in told and "$" not in told
    assert found.dollars is None is found.estimate.high.dollars and found.estimate.by_agent
    assert ("the critic makes about" in told) == (critic != "rules") == (found.calls > 0)
    assert total([(Estimate(), 1.0), (found.estimate, 2.0)]).by_agent


def test_progress_tells_what_all_calls_have_cost_those_of_the_critic_too(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress(4) as progress:
        progress.spending(lambda: Usage(5, 900, 100, 1.0, 0.25))
        progress.watch(Proposed(at=(1, 0), action=Action(None, usage=Usage(2, 500, 100, 1.0, 0.15))))
        progress.watch(Evaluated(at=(1, 0), evaluation=Evaluation(Outcome.UNPARSED)))
    assert "1/4 candidates (1 unparsed), nothing faster yet, 5 calls, 1000 tokens, $0.25" in capsys.readouterr().err


def test_progress_that_is_no_live_line_repeats_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with SearchProgress(4) as progress:
        progress.watch(Batch(batch=1, parents=((0, 0), (0, 0))))
        for slot in range(2):
            progress.watch(Evaluated(at=(1, slot), evaluation=Evaluation(Outcome.WRONG)))
            progress.watch(Critiqued(at=(1, slot), critique=""))
        progress.watch(Settled(batch=1))
        progress.watch(Settled(batch=2))
    told = [line.rpartition(", ")[0] for line in capsys.readouterr().err.splitlines()]
    counts = ("none yet", "1 wrong", "2 wrong")
    assert told == [f"{n}/4 candidates ({words}), nothing faster yet" for n, words in enumerate(counts)]


def test_a_run_that_goes_on_says_once_what_was_found_earlier(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = 1.5

    def search(budget: int) -> list[str]:
        method = Method(Scripted(write=lambda text, draw: str(draw % 1009)), Refine(9), compose())
        with SearchProgress(9) as progress:
            for line in (*read_events(tmp_path), Opened()) if budget > 3 else ():
                progress.watch(line)
            with Record(tmp_path) as record:
                run = Run(budget=budget, record=record, watch=progress.watch)
                optimize(toy_problem(), method, Table(rule=lambda text: best), run)
        return capsys.readouterr().err.splitlines()

    assert "3/9 candidates (3 correct), best 1.5" in search(3)[-1]
    first, *others = search(5)
    assert first.startswith("going on after 3/9 candidates (3 correct), best 1.5") and "found earlier)" in first
    assert len(others) >= 2 and all("found earlier)" in line and line[0] in "345" for line in others), others
    best = 2.5
    assert "earlier" not in search(9)[-1]


def test_a_critic_compares_with_the_last_program_over_an_answer_without_one() -> None:
    @dataclass
    class Comparing:
        compared: list[tuple[Program | None, Program | None]] = field(default_factory=list)

        async def critique(self, problem: Problem, step: Step, previous: Step | None) -> str:
            self.compared.append((step.action.program, previous.action.program if previous is not None else None))
            return "go on"

    @dataclass
    class SecondUnread:
        answers: list[Program | None] = field(
            default_factory=lambda: [Program({"toy.py": "1"}), None, Program({"toy.py": "3"})]
        )

        async def propose(self, observation: Observation) -> Action:
            return Action(self.answers[observation.state.depth], unread="no code block")

    critic = Comparing()
    optimize(toy_problem(), Method(SecondUnread(), Refine(depth=3), compose(), critic), Table(rule=float), Run(3))
    first, second, third = critic.compared
    assert third[1] == second[1] == first[0] != first[1] and second[0] is None
