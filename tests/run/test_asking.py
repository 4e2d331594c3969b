"""Ask and tell: prompts go out once, answers are evaluated, and nothing of either is lost."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

import maxcode as public
from maxcode.core.phases import BUILD, RUN, VERIFICATION, recording
from maxcode.core.types import Action, Evaluation, Observation, Outcome, Program, Section, State, Step
from maxcode.errors import InputError, Unanswered
from maxcode.evaluate.ladder.prepare import Admitted, identity
from maxcode.evaluate.repo.first_runs import FOLDER
from maxcode.llm.clients import Message, ModelRequest
from maxcode.llm.questions import Questions
from maxcode.run import asking
from maxcode.run.asking import asked_policy, keep_request
from maxcode.run.job import optimize_source
from maxcode.run.request import Request
from maxcode.run.result import RunResult
from maxcode.sandbox.toolchain import cache_root
from tests.support import repositories as repos
from tests.support.cli import ROOT, answer, doubts_of, maxcode
from tests.support.counting import FAST, QUARTER, SLOW, counting_place

WRONG = FAST.replace("n - 1", "n - 2")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.c").write_text(SLOW)
    (tmp_path / "tests").mkdir()
    for number, n in enumerate((8, 12, 16, 20)):
        (tmp_path / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (tmp_path / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    return tmp_path


START = ("optimize", "slow.c", "--tests", "tests", "--policy", "ask", "--method", "best-of-n", "--out", "run", "--json")


def ask(place: Path) -> dict[str, Any]:
    return answer(maxcode("ask", "run", "--json", cwd=place))


@pytest.mark.sandbox
def test_a_run_is_driven_by_answers_from_outside(place: Path) -> None:
    started = maxcode(*START, "--budget", "3", "--anyway", "--flags", "-std=c11", cwd=place)
    assert "note: the flags (-std=c11) replace the defaults and name no level of optimisation" in started.stderr
    waiting = answer(started)
    assert waiting == {"waiting": "3 of 3 prompts of batch 1 wait for an answer: maxcode ask run"}
    ids = [ask(place) for _ in range(3)]
    assert ask(place) == {"id": None, "state": "asking", "given_out": [one["id"] for one in ids]}
    assert all(SLOW.splitlines()[-2] in one["prompt"] for one in ids)
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    for one, text in zip(ids, (FAST, WRONG, ""), strict=True):
        (elsewhere / one["id"]).write_text(f"```c\n{text}\n```\n" if text else "I do not know.")
    first = answer(maxcode("tell", "../run", ids[0]["id"], ids[0]["id"], "--json", cwd=elsewhere))
    assert first["open"] == 2 and first["result"] is None
    assert first["feedback"][0].startswith("=> correct")
    wrong = subprocess.run(
        [sys.executable, "-c", f"""
import maxcode
told = maxcode.tell("run", {ids[1]["id"]!r}, open("elsewhere/{ids[1]["id"]}").read())
print(told.feedback[0], told.open, maxcode.ask("run"))
"""],
        cwd=place, capture_output=True, text=True, timeout=300, check=True,
    ).stdout  # fmt: skip
    assert wrong.startswith("=> wrong") and wrong.endswith(" 1 None\n")
    for words in ("nothing is used up: answer it again", "the next one that cannot be used counts: answer it again"):
        refused = maxcode("tell", "run", ids[2]["id"], f"elsewhere/{ids[2]['id']}", cwd=place)
        assert (
            refused.returncode == 2
            and f"there is no code block; the prompt {ids[2]['id']} stays open, " in refused.stderr
        )
        assert words in refused.stderr and maxcode("ask", "run", ids[2]["id"], cwd=place).returncode == 0
    last = answer(maxcode("tell", "run", ids[2]["id"], f"elsewhere/{ids[2]['id']}", "--json", cwd=place))
    assert (last["feedback"], last["open"]) == (["=> unparsed: there is no code block"], 0)
    assert last["result"]["outcomes"] == {"correct": 1, "unparsed": 1, "wrong": 1}
    counted = "1 answer held no program, and still counted as a candidate: there is no code block"
    assert counted in last["result"]["notes"]
    again = maxcode("tell", "run", ids[0]["id"], f"elsewhere/{ids[1]['id']}", cwd=place)
    assert again.returncode == 2 and "the run has ended, and takes no more answers" in again.stderr


@pytest.mark.sandbox
def test_a_lost_prompt_is_printed_again_and_a_run_is_finished_at_once(place: Path) -> None:
    for number, n in enumerate((160_000_003, 162_620_007, 165_000_041, 166_000_009)):
        (place / "tests" / f"{number:02}.in").write_text(f"{n}\n")
        (place / "tests" / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")
    answer(maxcode(*START[:-4], "cuda-llm", *START[-3:], "--budget", "6", cwd=place))
    first = ask(place)
    while ask(place)["id"] is not None:
        pass
    none = maxcode("ask", "run", cwd=place)
    assert first["id"] in none.stdout and "print one again: maxcode ask run" in none.stdout
    again = answer(maxcode("ask", "run", first["id"], "--json", cwd=place))
    assert again == first
    gone = maxcode("ask", "run", "nonesuch", cwd=place)
    assert gone.returncode == 2 and "no prompt 'nonesuch' that waits for an answer" in gone.stderr
    (place / "quarter.md").write_text(f"```c\n{QUARTER}\n```\n")
    told = answer(maxcode("tell", "run", first["id"], "quarter.md", "--json", cwd=place))
    assert told["feedback"][0].startswith("=> correct, speedup")
    assert told["feedback"][-1].startswith("a first estimate")
    both = maxcode("tell", "run", first["id"], "--finish", cwd=place)
    assert both.returncode == 2 and "give the ID of a prompt, or --finish" in both.stderr
    ended = maxcode("tell", "run", "--finish", cwd=place)
    assert "run/certificate.json" in ended.stdout
    many = told["open"]
    why = f"finished by the user (maxcode tell RUN --finish) with {many} prompt{'s' * (many != 1)} open"
    assert f"ended before its budget of candidates: {why}\n" in ended.stdout and "no further gain" not in ended.stdout
    assert json.loads((place / "run" / "result.json").read_text())["ended"] == why
    assert doubts_of(json.loads((place / "run" / "result.json").read_text())) == []
    assert "confirming the best of batch 1 on fresh pairs" in ended.stderr
    assert "certificate: timing the winner" in ended.stderr
    over = maxcode("ask", "run", cwd=place).stdout
    assert over == "no prompt is open: the run has ended, and its result is in run/result.json\n"
    late = maxcode("tell", "run", again["id"], "late.md", cwd=place)
    assert late.returncode == 2
    (place / "late.md").write_text(f"```c\n{FAST}\n```\n")
    late = maxcode("tell", "run", again["id"], "late.md", cwd=place)
    assert late.returncode == 2 and "the run has ended, and takes no more answers" in late.stderr


def asked(tmp_path: Path, program: Program | None = None) -> tuple[Path, str]:
    """A run on a repository with one open prompt about this program, and the prompt's id."""
    problem = repos.problem_of(
        repos.made(tmp_path / "words", {**repos.PYTHON_FILES, "src/words/more.py": ""}, repos.PYTHON_TOML)
    )
    request = Request(tmp_path / "words", policy="ask", out=tmp_path / "run")
    keep_request(request, problem)
    root = State(problem)
    state = root if program is None else State(problem, root, Step(Action(program), Evaluation(Outcome.CORRECT), 0.0))
    with pytest.raises(Unanswered):
        anyio.run(asked_policy(request).propose, Observation((Section("Problem", "p"),), state, draw=3))
    question = asking.ask(tmp_path / "run")
    assert question is not None
    return tmp_path / "run", question.id


def never(request: Request) -> None:
    raise AssertionError("the run went on")


def block(search: str, replace: str, path: str = "src/words/__init__.py") -> str:
    return f"Shorter.\n\n{path}\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def test_edits_that_cannot_be_used_leave_the_prompt_of_a_repository_open(tmp_path: Path) -> None:
    run, name = asked(tmp_path)
    line = f"        {repos.SLOW_LINE}"
    for text, words in (
        (block("        keys = list(", "x"), r"block 1: its SEARCH lines are not in the program"),
        (block(line, line), "nothing changed: SEARCH and REPLACE are equal"),
        (block("", "import os", "tests/test_more.py"), r"must stay as in base: tests/test_more.py \(`edit` does not"),
    ):
        (tmp_path / "run/asked" / f"{name}.refused").unlink(missing_ok=True)
        with pytest.raises(InputError, match=words) as refused:
            asking.tell(run, name, text, never)
        assert f"the prompt {name} stays open, nothing is used up" in str(refused.value)
    with pytest.raises(InputError, match=r"7 \|         keys = list\(found\)\nthe prompt"):
        asking.tell(run, name, block("        keys = list(", "x"), never)
    assert asking.waiting(run) == [name]
    with pytest.raises(AssertionError, match="the run went on"):
        asking.tell(run, name, block("        keys = list(", "x"), never)


def test_edits_are_read_against_the_program_that_the_prompt_shows(tmp_path: Path) -> None:
    better = Program(
        {"src/words/more.py": "", "src/words/__init__.py": repos.WORDS.replace(repos.SLOW_LINE, repos.FAST_LINE)}
    )
    run, name = asked(tmp_path, better)
    with pytest.raises(InputError, match="are not in the program"):
        asking.tell(run, name, block(f"        {repos.SLOW_LINE}", "        keys = set(found)"), never)
    with pytest.raises(AssertionError, match="the run went on"):
        asking.tell(run, name, block(f"        {repos.FAST_LINE}", "        keys = set(found)"), never)


def test_an_answer_that_asks_to_see_more_gets_it_and_uses_up_nothing(tmp_path: Path) -> None:
    run, name = asked(tmp_path)
    told = asking.tell(run, name, "I look first.\n\nSHOW src/words/__init__.py:longest\n", never)
    assert "def longest(text):" in told.feedback[0] and told.open == 1 and told.stays_open
    bench = asking.tell(run, name, "SHOW bench/run.py", never).feedback[0]
    assert bench.startswith("bench/run.py, lines 1 to ") and "which may not be changed" in bench
    shown = tmp_path / "shown.md"
    shown.write_text("SHOW src/words/__init__.py:longest\n")
    assert answer(maxcode("tell", run, name, shown, "--json"))["stays_open"] is True
    said = maxcode("tell", run, name, shown).stdout
    assert said.endswith(f"the prompt {name} stays open: maxcode tell {run} {name}\n")
    assert public.ask(run) is None and public.ask(run, id=name) == asking.ask(run, name=name)
    assert asking.waiting(run) == [name] and not (run / "asked" / f"{name}.refused").exists()


def test_a_run_says_whether_it_asks_evaluates_or_was_interrupted(tmp_path: Path) -> None:
    run, name = asked(tmp_path)
    assert asking.state_of(run) == "asking"
    with pytest.raises(AssertionError, match="the run went on"):
        asking.tell(run, name, block(f"        {repos.SLOW_LINE}", "        keys = set(found)"), never)
    assert asking.state_of(run) == "interrupted"
    told = maxcode("ask", run)
    assert "no prompt is open: the run was interrupted; repeat the last `maxcode tell`" in told.stdout
    assert answer(maxcode("ask", run, "--json")) == {"id": None, "state": "interrupted", "given_out": []}
    with (run / "asked/lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert asking.state_of(run) == "evaluating"
        assert "an answer is being evaluated; ask again" in maxcode("ask", run).stdout


def test_an_answer_that_is_no_utf_8_is_refused_in_a_sentence(tmp_path: Path) -> None:
    run, name = asked(tmp_path)

    def said(data: bytes, **environment: str) -> str:
        command = [sys.executable, "-m", "maxcode", "tell", str(run), name, "-"]
        done = subprocess.run(command, input=data, capture_output=True, env={**os.environ, **environment})
        assert done.returncode == 2
        return done.stderr.decode()

    assert said(b"caf\xe9") == "maxcode: the answer on standard input is not UTF-8 (byte 3); write it as UTF-8\n"
    assert "the answer gives no candidate" in said("Zählen.".encode(), PYTHONIOENCODING="ascii")
    with pytest.raises(InputError, match=r"character 4 of the answer is half of one \('\\ud800'\)"):
        asking.tell(run, name, "half\ud800", never)
    assert asking.waiting(run) == [name]


@pytest.mark.sandbox
def test_the_loop_of_the_docs_answers_a_prompt_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)
    page = (ROOT / "docs/how-to/coding-agents.md").read_text()
    (loop,) = re.findall(r"^```text\n(try:\n    maxcode\.optimize_program.*?)^```", page, re.MULTILINE | re.DOTALL)
    begun = f'{str(toml)!r}, budget=1, method="best-of-n"'
    assert '"slow.cpp", tests="tests"' in loop
    answers = iter(["SHOW src/words/__init__.py:longest\n", block("        keys = list(", "x"), "NO FURTHER GAIN"])
    prompts: list[str] = []

    def my_agent(prompt: str) -> str:
        prompts.append(prompt)
        return next(answers)

    monkeypatch.chdir(tmp_path)
    exec(loop.replace('"slow.cpp", tests="tests"', begun), {"maxcode": public, "my_agent": my_agent})
    assert [prompt.startswith(prompts[0]) for prompt in prompts] == [True] * 3
    assert "def longest(text):" in prompts[1].removeprefix(prompts[0])
    assert "its SEARCH lines are not in the program" in prompts[2].removeprefix(prompts[1])
    assert asking.state_of(Path("runs/agent")) == "ended"


def wrong(number: int) -> str:
    """An answer that fails the tests of the repository."""
    return block("        if len(word) > len(best):", f"        if len(word) > {number} + len(best):")


def id_of_next(run: Path) -> str:
    question = asking.ask(run)
    assert question is not None
    return question.id


@pytest.mark.sandbox
def test_a_second_answer_runs_nothing_of_a_repositorys_base_in_admission(tmp_path: Path) -> None:
    run, toml = tmp_path / "run", repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)
    with pytest.raises(Unanswered):
        optimize_source(Request(toml, policy="ask", method="best-of-n", budget=3, out=run))
    notes: list[str] = []

    def runs_of_admission(number: int) -> int:
        with recording() as recorder:
            told = asking.tell(run, id_of_next(run), wrong(number), go)
        assert told.feedback[0].startswith("=> wrong")
        return sum(
            one.count for one in recorder.profile().phases if one.stage == "admission" and one.activity in (BUILD, RUN)
        )

    def go(request: Request) -> RunResult:
        return optimize_source(
            request, admitted=lambda found: notes.extend(one for one in found.notes if one.startswith("base was"))
        )

    assert runs_of_admission(3) == 0
    assert [note.startswith("base was not built, tested and run again: ") for note in notes] == [True]
    (bases,) = (path for path in (cache_root() / FOLDER).iterdir() if path.name == identity(repos.problem_of(toml)))
    bases.write_bytes(bases.read_bytes()[:-1])
    assert runs_of_admission(4) > 8
    assert notes[1:] == ["base was built, tested and run again: its admission is not kept here"]


@pytest.mark.sandbox
def test_an_answer_runs_nothing_of_a_programs_original_in_admission(tmp_path: Path) -> None:
    run, place = tmp_path / "run", counting_place(tmp_path, 160_000_000, "")
    request = Request(place / "slow.c", place / "tests", policy="ask", method="best-of-n", budget=2, out=run)
    with pytest.raises(Unanswered):
        optimize_source(request)
    found: list[Admitted] = []
    with recording() as recorder:
        told = asking.tell(
            run, id_of_next(run), f"```c\n{WRONG}```\n", lambda known: optimize_source(known, admitted=found.append)
        )
    assert told.feedback[0].startswith("=> wrong")
    phases = [one for one in recorder.profile().phases if one.stage == "admission"]
    assert not [one for one in phases if one.activity in (RUN, VERIFICATION)]
    assert found[0].notes[0].startswith("the original was not run again for its admission: nothing has changed since ")


@pytest.mark.sandbox
def test_answers_that_are_told_at_once_admit_the_problem_once(tmp_path: Path) -> None:
    run, toml = tmp_path / "run", repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML)
    with pytest.raises(Unanswered):
        optimize_source(Request(toml, policy="ask", method="best-of-n", budget=3, out=run))
    first, second, last = (id_of_next(run) for _ in range(3))
    Questions(run / "asked").answer(second, wrong(4))  # as a `tell` that waits for the one before it has done
    told = asking.tell(run, first, wrong(3), optimize_source)
    assert told.feedback[0].startswith("=> wrong") and told.open == 1
    assert asking.tell(run, first, wrong(3), never) == told
    assert asking.tell(run, second, wrong(4), never).feedback[0].startswith("=> wrong")
    with pytest.raises(AssertionError, match="the run went on"):
        asking.tell(run, last, wrong(4), never)  # the text is known, this prompt is not
    with pytest.raises(AssertionError, match="the run went on"):
        asking.tell(run, second, wrong(4), never)  # no prompt is open: the run was interrupted


FOREIGN: dict[str, dict[str, Any]] = {
    "policy = 'words.py:policy'": {"policy": "words.py:policy"},
    "policy = 'command:touch pwned'": {"policy": "command:touch pwned"},
    "critic = 'command:touch pwned'": {"critic": "command:touch pwned"},
    "replay = ": {"replay": "run"},
    "base_url = 'http://127.0.0.1:9'": {"models": {"base_url": "http://127.0.0.1:9"}},
    "cluster = 'slurm:site.toml'": {"cluster": "slurm:site.toml"},
    "setup = 'touch pwned'": {"overrides": {"setup": "touch pwned"}},
}


@pytest.mark.parametrize("words", FOREIGN)
def test_a_run_folder_from_elsewhere_names_no_code_command_or_address(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(place)
    (place / "words.py").write_text("open('pwned', 'w').close()\n")
    folder = place / "run/asked"
    folder.mkdir(parents=True)
    request = {"source": "slow.c", "tests": "tests", "policy": "ask", "budget": 1, **FOREIGN[words]}
    (folder / "request.json").write_text(json.dumps({"started_in": str(place), "request": request}))
    with pytest.raises(InputError, match="a run that asks") as refused:
        asking.finish(Path("run"), optimize_source)
    assert words in str(refused.value)
    assert not (place / "pwned").exists()
    (folder / "request.json").write_text("{}")
    with pytest.raises(InputError, match="is no request of a run that asks"):
        asking.tell(Path("run"), "x", "y", never)


def test_a_run_that_could_not_be_told_is_refused_at_once(place: Path) -> None:
    done = maxcode(*START, "--critic", "command:cat", cwd=place)
    assert done.returncode == 2 and "cannot have critic = 'command:cat'" in done.stderr
    assert not (place / "run").exists()


def not_to_be_called(request: Request) -> RunResult:
    pytest.fail("the run goes on")


def test_a_run_whose_folder_is_gone_keeps_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, began = tmp_path / "run", tmp_path / "began"
    began.mkdir()
    problem = repos.problem_of(repos.made(tmp_path / "words", repos.PYTHON_FILES, repos.PYTHON_TOML))
    with pytest.raises(Unanswered):
        anyio.run(Questions(run / "asked").complete, ModelRequest((Message("user", "Faster, please."),), draw=1))
    with monkeypatch.context() as there:
        there.chdir(began)
        keep_request(Request(Path("a.c"), out=run, policy="ask"), problem)
    began.rename(tmp_path / "renamed")
    (name,) = Questions(run / "asked").open()
    cure = "repeat the command that began it where its problem is now"
    with pytest.raises(InputError, match=cure):
        asking.tell(run, name, "no further gain", not_to_be_called)
    with pytest.raises(InputError, match=cure):
        asking.finish(run, not_to_be_called)
    assert Questions(run / "asked").open() == [name]


def test_a_run_that_does_not_ask_says_how_to_start_one(tmp_path: Path) -> None:
    done = maxcode("ask", "run", cwd=tmp_path)
    assert done.returncode == 2
    assert "maxcode optimize PROBLEM --policy ask --out run" in done.stderr
