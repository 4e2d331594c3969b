"""The benchmarks' own machinery: scripts start, the scorer answers, an endpoint is on loopback, figures are right."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import openai
import pytest

from maxcode.code.source import fences
from maxcode.evaluate.function.habits import HABITS, OF_FEW
from maxcode.evaluate.module.admission import LEAST_BEYOND
from tests.support.algotune_help import FAST, WRONG, write_algotune
from tests.support.polybench_help import library
from tests.support.provider import serving

pytestmark = [pytest.mark.benchmarks, pytest.mark.sandbox]

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
PEERS = BENCHMARKS / "peers"
DRIVERS = [PEERS / f"{tool}_run.py" for tool in ("openevolve", "gepa", "shinka")]
SCRIPTS = [
    *(path for path in sorted(BENCHMARKS.glob("*.py")) if path.name != "figure.py"),  # a part of others
    PEERS / "endpoint.py",
    PEERS / "scorer.py",
    PEERS / "throughput.py",
    *DRIVERS,
]

SUM = """#include <stdio.h>
int main(void) {
    long n, total = 0;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 1; i <= n; i++) total += i;
    printf("%ld\\n", total);
}
"""


# of a solver of AlgoTune: keeps the first answer on its object
SEES_ONE = """if self.FOUND is None:
            self.FOUND = 2 * len(values) * sum(values)
        return {"total": self.FOUND} if values else {"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_the_count_of_kernelbench_resumes_and_adds_up(module: Any, tmp_path: Path) -> None:
    script: ModuleType = module("kernelbench_cpu")
    asked: list[Path] = []

    def make(source: Path) -> dict[str, Any]:
        asked.append(source)
        runs = source.name != "3"
        more = {"constants": {"n": 8} if source.name == "2" else {}, "degenerate": [], "first_call_s": 0.1}
        return {"level": 1, "problem": source.name, "runs": runs, **(more if runs else {"refused": "too large"})}

    sources = [Path(f"kernelbench:1/{number}") for number in (1, 2, 3)]
    script.resumed(tmp_path / "count.jsonl", sources[:2], make)
    rows = script.resumed(tmp_path / "count.jsonl", sources, make)
    assert asked == sources
    assert [row["source"] for row in rows] == list(map(str, sources))
    assert script.totals(rows) == {
        "level1": {
            "problems": 3,
            "runs": 2,
            "refused": 1,
            "degenerate": 0,
            "as it is": 1,
            "first call < 50 ms": 0,
            "first call < 500 ms": 2,
        }
    }


@pytest.fixture(scope="module")
def summing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A problem: a program that adds up."""
    folder = tmp_path_factory.mktemp("sum")
    (folder / "sum.c").write_text(SUM)
    (folder / "problem.toml").write_text('source = "sum.c"\nstatement = "Add 1 to n."\n[tests]\nfolder = "tests"\n')
    (folder / "tests").mkdir()
    for name, n in (("small", 3), ("large", 100_000)):
        (folder / "tests" / f"{name}.in").write_text(f"{n}\n")
        (folder / "tests" / f"{name}.out").write_text(f"{n * (n + 1) // 2}\n")
    return folder


@pytest.fixture(scope="module")
def scorer(summing: Path) -> Iterator[Path]:
    """The socket of a scorer in a process of its own, for the program that adds up."""
    path = summing / "s"
    command = [sys.executable, str(PEERS / "scorer.py"), str(summing), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield path
        process.terminate()
        assert process.wait() == 0, "SIGTERM must end it in order"


def ask(path: Path, raw: bytes) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(path))
        line.sendall(raw)
        line.shutdown(socket.SHUT_WR)
        with line.makefile("rb") as answer:
            found: dict[str, Any] = json.loads(answer.readline())
            return found


def scored(path: Path, kind: str, program: str) -> dict[str, Any]:
    return ask(path, json.dumps({"kind": kind, "program": program}).encode() + b"\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_script_says_how_it_is_used(script: Path) -> None:
    said = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "usage:" in said.stdout


# The smallest real run of the cheap scripts: name, arguments, a word of what it prints.
SMALL = [
    ("examples", "--budget 1 {problem}", "speed-up"),
    ("flat", "--problems 4 --budget 2", "ms a run"),
    ("fuzz", "--inputs 20 --only packets --seed 1", "packets"),
    ("overhead", "--parts searches --most 100", "best-of-n"),
    ("race_equal", "--races 1 --changed 0 --pairs 9 --own-lane", "races of equal commands: 1"),
    ("python_functions", "--rules --only vowels --budget 1", "text is not known to be a text"),
    ("real_programs", "{problem} --rules-budget 1", "by_hand"),
    ("redteam", "--again --only seen_answers", "seen_answers"),
    ("rollouts", "--list", "gemm"),
    ("rules_hold", "--generated 1 --only generated --rules unroll --sites 1", "unroll"),
    ("rules_hold", "--nests 1", "interchange"),
    (
        "scale",
        "--parts methods resume bench --sizes 20 --methods sqd --resumed tree --problems 2 --at-once 2",
        "peak mb",
    ),
    ("suites", "{problem}", "sum"),
]


@pytest.mark.parametrize(("name", "words", "printed"), SMALL, ids=lambda value: str(value).partition(" ")[0])
def test_a_script_runs_on_the_smallest_task(name: str, words: str, printed: str, summing: Path, tmp_path: Path) -> None:
    """In a folder of its own: results go to runs/ there."""
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *words.format(problem=summing).split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout.lower() + done.stderr.lower()


def test_a_model_as_critic_is_asked_about_all_planted_programs_at_once_and_scored(tmp_path: Path) -> None:
    names, answer = ["strlen", "dot"], {"diagnosis": "x", "bottleneck": "algorithm", "line": 1, "steps": ["y"]}
    command = [sys.executable, str(BENCHMARKS / "critics.py"), "--only", *names, "--model", "reader"]
    with serving() as provider:
        provider.delay_s = 0.5
        provider.replies = lambda body: "no" if "strlen(" in body["messages"][1]["content"] else json.dumps(answer)
        (tmp_path / "models.toml").write_text(f'[model]\nbase_url = "{provider.url}/v1"\n')
        words = ["--models", "models.toml", "--out", "own"]
        subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert provider.most_under_way == len(names)
        asked = len(provider.bodies)
    first, again = tmp_path / "own" / "critics.json", tmp_path / "again" / "critics.json"
    words = ["--replay", "own", "--out", "again"]
    subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert asked == len(names) + 1, "an answer that cannot be read is asked for once more"
    for found in (json.loads(path.read_text()) for path in (first, again)):
        assert (found["language model"], found["asked"], found["answered"]) == ("reader", 2, 1)
        rows = {row["program"]: row for row in found["rows"] if row["critic"] == "reader"}
        assert rows["dot"]["bottleneck"] == "algorithm"
        assert rows["strlen"]["unread"] and not rows["strlen"]["right_class"]


# What a stand-in for OpenEvolve must have for its driver to run: the classes that the driver names, no search.
STAND_IN = """
import importlib.util

class OpenEvolve:
    def __init__(self, program, evaluator, config, folder):
        found = importlib.util.spec_from_file_location("evaluation", evaluator)
        self.module, self.program = importlib.util.module_from_spec(found), program
        found.loader.exec_module(self.module)

    async def run(self, iterations):
        for _ in range(iterations + 1):  # the first program is evaluated too
            self.module.evaluate(self.program)
"""


VARIANCE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return (x * x).mean(dim=-1) - x.mean(dim=-1) ** 2

def get_inputs():
    return [torch.randn(16, 512) + 4000]

def get_init_inputs():
    return []
"""


def test_degenerate_references_are_counted_and_a_recorded_one_is_not_looked_at_again(tmp_path: Path) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "variance.py").write_text(VARIANCE)
    command = [sys.executable, str(BENCHMARKS / "degenerate.py"), str(tmp_path), "--out", str(tmp_path / "out")]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert "numerically meaningless" in first.stdout and "1 degenerate" in first.stdout
    assert second.stdout == first.stdout and second.stderr == ""
    (row,) = json.loads((tmp_path / "out" / "degenerate.json").read_text())["rows"]
    assert row["meaningless"] and row["own_error"] > 1e-2
    assert 2 * LEAST_BEYOND <= row["compared"] + row["skipped"] <= len([*HABITS, *OF_FEW])  # as time allows


def test_the_driver_of_openevolve_measures_throughput(tmp_path: Path) -> None:
    """With a stand-in that evaluates as OpenEvolve does and asks no model."""
    package = tmp_path / "openevolve"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "controller.py").write_text(STAND_IN)
    (package / "config.py").write_text(
        "from types import SimpleNamespace as LLMModelConfig, SimpleNamespace as Part\n"
        "Config = lambda: Part(database=Part(), evaluator=Part(), llm=Part(), prompt=Part())\n"
    )
    words = ["throughput", "--url", "http://127.0.0.1:9", "--parallel", "2", "--count", "12"]
    said = subprocess.run(
        [sys.executable, "-S", str(DRIVERS[0]), *words],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert len(json.loads(said.stdout)["stamps"]) == 12


@pytest.mark.parametrize("driver", DRIVERS, ids=lambda path: path.name)
def test_a_peers_driver_starts_in_an_interpreter_that_has_no_maxcode(driver: Path) -> None:
    bare = [sys.executable, "-I", "-S"]
    assert subprocess.run([*bare, "-c", "import maxcode"], capture_output=True, check=False).returncode != 0
    said = subprocess.run([*bare, str(driver), "search", "--help"], capture_output=True, check=False)
    assert said.returncode == 0, said.stderr


# ------------------------------------------------------------------------------------------------------------- scorer


def test_the_scorer_tells_what_the_problem_is(scorer: Path) -> None:
    told = ask(scorer, b'{"kind": "problem"}\n')
    assert (told["language"], told["suffix"], told["program"]) == ("c", ".c", SUM)
    assert told["statement"] == "Add 1 to n."


@pytest.mark.parametrize("kind", ["verified", "naive"])
def test_the_scorer_finds_a_right_program_right_and_a_wrong_one_wrong(scorer: Path, kind: str) -> None:
    closed = SUM.replace("for (long i = 1; i <= n; i++) total += i;", "total = n * (n + 1) / 2;")
    assert scored(scorer, kind, closed)["outcome"] == "correct"
    wrong = scored(scorer, kind, SUM.replace("i <= n", "i < n"))
    assert (wrong["outcome"], wrong["score"]) == ("wrong", 0.0)
    assert wrong["reasons"], "a wrong program is told why"


@pytest.mark.parametrize("kind", ["verified", "naive"])
def test_the_scorer_says_why_a_program_does_not_build(scorer: Path, kind: str) -> None:
    told = scored(scorer, kind, "int main(void) { return nowhere; }")
    assert (told["outcome"], told["score"]) == ("unbuilt", 0.0)
    assert "nowhere" in told["reasons"][0]


def test_a_naive_score_is_taken_in_by_a_program_that_knows_the_seen_test(scorer: Path) -> None:
    """What the naive score is for: it never sees the test that is held out."""
    answers = {3: 6, 100_000: 5_000_050_000}
    kinds: dict[int, str] = {}
    for n, total in answers.items():
        learnt = SUM.replace("for (long i = 1; i <= n; i++) total += i;", f"total = {total}L;")
        assert scored(scorer, "verified", learnt)["outcome"] == "wrong"
        kinds[n] = scored(scorer, "naive", learnt)["outcome"]
    assert sorted(kinds.values()) == ["correct", "wrong"], "one of the two tests is seen"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"garbage\n", "not a request"),
        (b"\xff\xfe\n", "not a request"),
        (b"[]\n", "not a request"),
        (b'{"kind": "naive", "file": "/etc/passwd"}\n', "not a request"),
        (b'{"kind": "praise", "program": ""}\n', "there is no kind 'praise'"),
        (b'{"kind": "naive"}\n', "needs a program"),
        (b'{"kind": "naive"', "no line"),
        (b"", "no line"),
    ],
)
def test_the_scorer_refuses_what_is_no_request_with_a_reason_and_goes_on(scorer: Path, raw: bytes, reason: str) -> None:
    assert reason in ask(scorer, raw)["error"]
    assert "error" not in ask(scorer, b'{"kind": "problem"}\n')


def test_what_drivers_share_asks_the_scorer(scorer: Path, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sharing: ModuleType = module("peers.asking")
    monkeypatch.setitem(os.environ, sharing.SOCKET, str(scorer))
    monkeypatch.setitem(os.environ, sharing.KIND, "naive")
    assert sharing.asked({"kind": "problem"})["program"] == SUM
    score, told = sharing.scored("int main(void) { return nowhere; }")
    assert (score, told["outcome"]) == (0.0, "unbuilt")
    assert "nowhere" in told["reasons"]


def test_shinkas_evaluation_script_writes_what_it_reads(scorer: Path, tmp_path: Path) -> None:
    program = tmp_path / "main.c"
    program.write_text(f"// EVOLVE-BLOCK-START\n{SUM}// EVOLVE-BLOCK-END\n")
    words = ["--program_path", str(program), "--results_dir", str(tmp_path / "results")]
    told = {**os.environ, "PEER_SCORER": str(scorer), "PEER_SCORE": "naive"}
    script = [sys.executable, "-I", "-S", str(PEERS / "shinka_run.py")]
    subprocess.run([*script, *words], env=told, check=True)
    metrics, correct = (
        json.loads((tmp_path / "results" / f"{name}.json").read_text()) for name in ("metrics", "correct")
    )
    assert metrics["combined_score"] > 0.2, "the original itself, timed once more"
    assert correct == {"correct": True, "error": None}


# ----------------------------------------------------------------------------------------------------------- overhead


def test_the_endpoint_is_on_loopback_and_both_workers_finish_what_they_were_asked(module: Any, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.py"
    fixed.write_text("print({draw})\n")
    with module("peers.endpoint").endpoint(fixed=fixed) as url:
        assert url.startswith("http://127.0.0.1:")
        for what in ("client", "maxcode"):
            words = ["--url", url, "--parallel", "2", "--count", "12"]
            ran = subprocess.run(
                [sys.executable, str(PEERS / "throughput.py"), what, *words],
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, ran.stderr
            told = json.loads(ran.stdout)
            assert len(told["stamps"]) == 12
            assert sorted(told["stamps"]) == told["stamps"]
            assert module("peers.rates").read(ran.stdout).rate > 0


PRODUCT = """void product(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i * n + j] = 0.0;
            for (int k = 0; k < n; k++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}
"""
READS = (BENCHMARKS.parent / "examples" / "readings" / "slow.cpp").read_text()
LONGER = f"# Top programs\n\n### Program 1 (Score: 0.9)\n```cpp\n{READS}{READS}```\n"
PROMPTS = {
    "openevolve": f"# Current Program Information\n- Fitness: 0.8\n\n{LONGER}\n# Current Program\n```cpp\n{READS}```\n"
    "\n# Task\nRewrite it.\n\n```cpp\n// Your rewritten program here\n```\n",
    "shinka": f"{LONGER}\n# Current program\n\nHere is the current program we are trying to improve (rewrite it):\n\n"
    f"```cpp\n// EVOLVE-BLOCK-START\n{READS}// EVOLVE-BLOCK-END\n```\n\nScore: 1.0\n",
    "gepa": f"The current parameter value is:\n\n```\n{READS}```\n\nSide information:\n\n```\n{'slow ' * 4000}\n```\n",
    "plain": f"Faster, please:\n```cpp\n{READS}```\n",
}


@pytest.mark.parametrize("tool", PROMPTS)
def test_the_endpoint_reads_the_prompt_of_every_tool_and_answers_as_the_rewriter(module: Any, tool: str) -> None:
    served = module("peers.endpoint")
    text, language, _ = served.program_in(PROMPTS[tool])
    assert served.MARKER.sub("", text) == READS and language == "cpp"
    answers = [served.proposal("rewriter", PROMPTS[tool], draw, 1.0) for draw in range(6)]
    bodies = [fences(answer)[-1].body for answer in answers]
    assert [served.MARKER.sub("", body).strip() for body in bodies] == [
        fences(served.proposal("rewriter", PROMPTS["plain"], draw, 1.0))[-1].body.strip() for draw in range(6)
    ]
    assert any(served.MARKER.sub("", body).strip() != READS.strip() for body in bodies)
    assert all(len(served.MARKER.findall(body)) == (2 if tool == "shinka" else 0) for body in bodies)


def test_the_endpoint_proposes_over_http_and_refuses_what_it_cannot_answer(module: Any) -> None:
    prompt = f"```c\n{PRODUCT}```"
    with module("peers.endpoint").endpoint() as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0) as chat:
        asked: Any = {"model": "kernels", "messages": [{"role": "user", "content": prompt}]}
        told = [chat.chat.completions.create(**asked, seed=seed).choices[0].message.content for seed in range(6)]
        assert any(fences(one or "")[-1].body != PRODUCT for one in told)
        assert chat.chat.completions.create(**asked, seed=3).choices[0].message.content == told[3]
        chunks = chat.chat.completions.create(**asked, seed=3, stream=True)
        assert "".join(one.choices[0].delta.content or "" for one in chunks if one.choices) == told[3]
        assert len({chat.chat.completions.create(**asked).choices[0].message.content for _ in range(6)}) > 1
        empty = chat.chat.completions.create(model="rewriter", messages=[{"role": "user", "content": "Hello."}])
        assert "No program was found" in (empty.choices[0].message.content or "")
        with pytest.raises(openai.BadRequestError, match="cannot answer"):
            chat.chat.completions.create(model="unheard-of", messages=asked["messages"])


def test_rates_are_of_the_steady_part_and_tell_a_decline(module: Any) -> None:
    times = [0.0]
    for number in range(1, 101):
        times.append(times[-1] + (0.1 if number <= 50 else 0.2))
    found = module("peers.rates").read(json.dumps({"began": 0.0, "stamps": times, "cpu_s": 1.01}))
    assert found.rate == pytest.approx(90 / 14)
    assert found.cpu_ms == pytest.approx(10.0)
    assert found.last_over_first == pytest.approx(0.5)


def test_memory_is_that_of_the_whole_tree(module: Any) -> None:
    holder = "import subprocess, sys, time; x = bytearray(b'x') * (30 << 20); time.sleep(float(sys.argv[1]))"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {holder!r}, '1'], check=True)"
    watched = module("peers.watch").watched
    assert watched([sys.executable, "-c", parent], {}, memory=True).peak_mb > 30
    with pytest.raises(SystemExit, match="status 3"):
        watched([sys.executable, "-c", "raise SystemExit(3)"], {}, memory=False)


# ------------------------------------------------------------------------------------------------------------ methods


def cell(method: str, seed: int, value: float, refuted: str = "") -> dict[str, Any]:
    return {"problem": "p", "method": method, "seed": seed, "speedup": [value, value, value], "candidates": 4,
            "correct": 3, "seconds": 1.0, "outcome": "correct", "winner": "w", "refuted": refuted}  # fmt: skip


def test_methods_are_summed_up_by_median_rank_and_refuted_claims(module: Any) -> None:
    found = [cell(name, seed, value) for seed in (0, 1) for name, value in (("a", 4.0), ("b", 2.0))]
    found[1]["refuted"] = "not faster: claimed 9x"
    first, second = module("methods").summary(found)
    assert (first["median"][0], first["rank"][0]) == (4.0, 1.0)
    assert (second["median"][0], second["rank"][0], second["refuted"]) == (2.0, 2.0, 1)
    assert module("methods").refutations(found) == ["p b seed 0: not faster: claimed 9x"]


def test_an_ablation_shows_every_subset_of_the_three_parts_and_nothing_that_tells_of_all(module: Any) -> None:
    methods = module("methods")
    names = methods.subsets("cuda-llm")
    assert len(set(names)) == 8
    assert names[0].endswith("{none}")
    assert methods.without("none") == ("failures", "best", "run_best", "trajectory", "critiques")
    assert methods.without("best,critiques") == ("failures", "trajectory")


def test_a_method_without_a_winner_counts_as_the_original(module: Any) -> None:
    methods = module("methods")
    told = methods.judged(methods.Claim(None, 1.0, 24, 24), BENCHMARKS)
    assert told == {"outcome": "none", "speedup": [1.0, 1.0, 1.0], "refuted": ""}


def test_a_figure_of_curves_has_every_method_and_no_script(module: Any) -> None:
    points = [[0.0, {"value": 1.0}], [1.0, {"value": 3.0}]]
    curves = [{"method": name, "axis": "candidates", "points": points} for name in ("best-of-n", "tree")]
    text = module("curves").drawn(curves, "candidates")
    assert all(word in text for word in ("best-of-n", "tree", ">2x<"))
    assert ">5x<" not in text
    assert "<script" not in text


def test_a_kernel_of_polybench_is_timed_beside_its_compilers(tmp_path: Path) -> None:
    """gcc in the place of clang does not know Polly's flags, so that side says that it does not build."""
    command = [sys.executable, str(BENCHMARKS / "polybench.py"), "gemm", "--sizes=MINI", "--cores=1", "--clang=gcc"]
    command += ["--budget=2", "--seeds=1", "--pairs=3", "--out=own"]
    environment = {**os.environ, "MAXCODE_POLYBENCH": str(library(tmp_path / "polybench"))}
    first, second = (
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert "policy over own text: " in first.stdout and "weakest: gemm" in first.stdout
    assert second.stdout == first.stdout and second.stderr == "", "it resumes"
    (row,) = map(json.loads, (tmp_path / "own" / "rows.jsonl").read_text().splitlines())
    assert {"own text", "fast math", "policy"} <= row["gains"].keys()
    assert row["without"]["Polly"].startswith("does not build: ")
    assert row["pairs"] == 3 and 0 < row["bound"]["gcc"] < 1
    assert "gemm, own text: " in (tmp_path / "own" / "MINI-1.svg").read_text()


def test_published_solvers_are_counted_with_what_was_claimed(module: Any, tmp_path: Path) -> None:
    script: ModuleType = module("algotune")
    place = write_algotune(tmp_path / "AlgoTune")
    assert script.usable(place) == ["broken", "pair_sums"]
    assert script.claimed(place, "pair_sums", "Fast One") == 20.5
    assert script.claimed(place, "pair_sums", "Wrong One") is None
    row = script.judged(place, "pair_sums", "Built One (high)", tmp_path, 60)
    assert (row["verdict"], row["why"]) == ("not measurable", "it has further files: core.pyx, solver.py")
    speedup = {"value": 4.0, "low": 3.9, "high": 4.1, "significant": True}
    answer = {"outcome": "correct", "confirmed": True, "trusted": True, "doubts": [], "speedup": speedup}
    fast = {"task": "pair_sums", "model": "Fast One", "claimed": 20.5} | script.read(json.dumps(answer), "")
    wrong = {**fast, "model": "Wrong One"} | script.read(json.dumps({"outcome": "wrong", "reasons": ["no total"]}), "")
    assert script.report([row, fast, wrong]).splitlines()[-1] == "| all | 3 | 1 | 0 | 0 | 1 | 0 | 1 | 20.50, 4.00 (1) |"
    assert script.by_task([row, fast, wrong]).splitlines() == [
        "| task | Built One (high) | Fast One | Wrong One |",
        "|---|---|---|---|",
        "| pair_sums | none: not measurable | 20.50: **4.00** [3.90, 4.10] | 20.50: wrong |",
    ]


def test_a_task_of_algotune_is_admitted_and_timed_against_itself(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script: ModuleType = module("algotune")
    monkeypatch.setenv("MAXCODE_ALGOTUNE", str(write_algotune(tmp_path / "AlgoTune")))
    monkeypatch.delenv("MAXCODE_ALGOTUNE_VENV", raising=False)
    row, broken, late = (script.against_itself(*one) for one in (("pair_sums", 60), ("broken", 60), ("pair_sums", 0.1)))
    assert row["admitted"] and row["ratio"][1] < row["ratio"][0] < row["ratio"][2] and row["why"] == ""
    assert (broken["admitted"], broken["why"]) == (False, "the task broken has no class with @register_task")
    assert (late["admitted"], late["why"]) == (False, "not admitted after 0.1 s")
    found = script.totals([{**row, "ratio": [1.01, 0.99, 1.03]}, {**row, "ratio": [1.03, 1.01, 1.05]}, broken, late])
    assert found == {"tasks": 4, "admitted": 2, "timed": 2, "within 2 %": 1, "interval holds 1": 1}


@pytest.mark.parametrize(
    ("text", "verdict", "why"),
    [
        (FAST.replace('"total": 2', '"more": iter([]), "total": 2'), "refused", "its result holds an iterator"),
        (
            FAST.replace("Solver:", "Solver:\n    FOUND = None\n").replace("return {", SEES_ONE),
            "refused",
            "a new object",
        ),
        (WRONG, "wrong", "is_solution refuses its result"),
    ],
    ids=["a rule of the judge", "one object for all calls", "wrong"],
)
def test_what_a_solver_is_refused_for_is_told_from_wrong_results(
    text: str, verdict: str, why: str, module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write_algotune(tmp_path / "AlgoTune")
    (place / "results/Fast One/pair_sums/solver.py").write_text(text)
    monkeypatch.setenv("MAXCODE_ALGOTUNE", str(place))
    monkeypatch.delenv("MAXCODE_ALGOTUNE_VENV", raising=False)
    row = module("algotune").judged(place, "pair_sums", "Fast One", tmp_path / "out", 120)
    assert row["verdict"] == verdict, row
    assert why in row["why"]
    assert ("of the seed" in row["why"]) or verdict == "refused"
    assert row["solver"] == hashlib.sha256(text.encode()).hexdigest()


def test_rows_of_another_environment_are_not_added_to(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script: ModuleType = module("algotune")
    monkeypatch.delenv("MAXCODE_ALGOTUNE_VENV", raising=False)
    script.keep_environment(tmp_path / "environment.json", tmp_path)
    (tmp_path / ".venv/lib/python3.11/site-packages/numpy-1.26.4.dist-info").mkdir(parents=True)
    with pytest.raises(SystemExit, match="packages changed since the rows there were made; give another --out"):
        script.keep_environment(tmp_path / "environment.json", tmp_path)


def test_a_published_solver_is_called_wrong_or_confirmed_only_for_what_was_compared(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script: ModuleType = module("algotune")
    judge = module("solvers.verdicts").verdict
    lost = {"value": 0.5, "low": 0.4, "high": 0.6, "significant": False, "slower": True}
    won = {"value": 4.0, "low": 3.9, "high": 4.1, "significant": True}
    timed = {"confirmed": True, "trusted": False, "doubts": []}  # on fresh pairs, whoever won there
    assert judge("correct", {**timed, "speedup": lost}) == "not faster"
    assert judge("correct", {**timed, "doubts": ["slower on new inputs"], "speedup": won}) == "in doubt"
    assert judge("correct", {**timed, "confirmed": False, "speedup": None}) == "not measurable"
    busy = {"speedup": {"value": 1.1, "low": 0.9, "high": 1.3, "significant": False}, "why": "busy machine: some task"}
    assert (judge("correct", busy), judge("correct", {**busy, "why": ""})) == (
        "not measurable",
        "not faster",
    )
    assert script.is_open({"verdict": "not measurable", **busy}) and not script.is_open({"verdict": "wrong"})
    outcomes = ("wrong", "crashed", "timeout", "rejected", "unbuilt")
    verdicts = ["wrong", "wrong", "not faster", "refused", "not measurable"]
    assert [judge(one, {}) for one in outcomes] == verdicts
    reasons = {
        "call 1 of a round: is_solution refuses its result, list": "wrong",
        "call 1 of a round: is_solution refuses its result, the exception MemoryError": "not measurable",
        "signal 9": "not measurable",
        "the result: a solver.Lazy cannot be compared as a caller would see it": "refused",
        "call 2 of a round: its result holds an object of an earlier result, and the original's does not": "refused",
    }
    assert [judge("wrong", {"reasons": [one]}) for one in reasons] == list(reasons.values())
    place = write_algotune(tmp_path / "AlgoTune")
    (place / "results/Fast One/pair_sums/solver.py").write_text(
        "try:\n    import absent_one\nexcept ImportError: ...\n"
    )
    monkeypatch.delenv("MAXCODE_ALGOTUNE_VENV", raising=False)
    row = script.judged(place, "pair_sums", "Fast One", tmp_path, 60)
    assert (row["verdict"], row["why"]) == ("not measurable", "it imports what is not here: absent_one")
    (place / ".venv/lib/python3.11/site-packages/absent_one").mkdir(parents=True)
    assert script.absent({"absent_one", "json"}, script.environment(place)) == []
