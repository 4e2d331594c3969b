"""Run folders made without a compiler: the real loop and record, an evaluator whose timings look measured."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from maxcode.code.source import fenced
from maxcode.core.history import Result
from maxcode.core.method import Method
from maxcode.core.roles import Search
from maxcode.core.stats import median_interval
from maxcode.core.types import (
    Action,
    CaseResult,
    Evaluation,
    Feedback,
    Interval,
    MachineCode,
    Node,
    Observation,
    Outcome,
    Problem,
    Program,
    ProgramSpec,
    State,
    StateId,
    Timing,
)
from maxcode.observe import compose
from maxcode.run.optimize import Run, optimize
from maxcode.run.record import Record, check_header
from maxcode.search import BestOfN
from maxcode.testing import Echo, FakeClock

SLOW = """\
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace std;

int score(string word) {
    int total = 0;
    for (int i = 0; i < word.size(); i++) {
        total += word[i] * (i + 1);
    }
    return total;
}

int main() {
    int n;
    cin >> n;
    map<string, int> counts;
    vector<string> words;
    for (int i = 0; i < n; i++) {
        string word;
        cin >> word;
        words.push_back(word);
        counts[word]++;
    }
    long long best = 0;
    for (auto word : words) {
        best = max<long long>(best, 1LL * score(word) * counts[word]);
    }
    for (auto entry : counts) {
        cout << entry.first << " " << entry.second << endl;
    }
    cout << best << endl;
    return 0;
}
"""

HEADER: dict[str, object] = {
    "version": "0.1.0",
    "problem": "word-count",
    "language": "cpp",
    "source": "examples/word-count/slow.cpp",
    "flags": ["-std=c++17", "-O3"],
    "checker": "tokens",
    "method": "best-of-n",
    "policy": "rewriter",
    "seed": 0,
    "budget": 24,
    "digest": "5f1d",
    "sandbox": "bubblewrap, no network, seccomp",
    "tests": {"seen": 3, "held_out": 4, "generated": 8, "dropped": 0},
    "machine": {
        "node": "lab-7",
        "cpu": "AMD EPYC 7B13",
        "cores": 2,
        "kernel": "Linux 6.1",
        "compilers": {"g++": "g++ (Debian 12.2.0) 12.2.0"},
    },
    "notes": ["the profile of the original: 41 % std::istream (line 21), 22 % map lookup (line 24)"],
}


@dataclass(frozen=True)
class Plan:
    """What the evaluator will say of a candidate: an outcome, and for a correct one how fast it is, with a rate in
    GFLOPS where it is a kernel."""

    outcome: Outcome = Outcome.CORRECT
    speed: float = 1.0
    words: str = "removed a copy of a string in the loop (line 29)"
    reasons: tuple[str, ...] = ()
    diagnostics: str = ""
    edit: tuple[str, str] = ("auto word :", "const auto& word :")
    warnings: tuple[str, ...] = ()
    timed: bool = True
    rate: float = 0.0
    node: Node | None = None
    machine_code: MachineCode | None = None


@dataclass(frozen=True)
class Planned:
    """A policy and an evaluator that follow a list of plans, by the draw of the observation."""

    plans: Sequence[Plan]
    taken: list[int] = field(default_factory=list)

    async def propose(self, observation: Observation) -> Action:
        at = len(self.taken)
        self.taken.append(at)
        plan = self.plans[at % len(self.plans)]
        if plan.outcome is Outcome.UNPARSED:
            return Action(None, plan.words)
        program = observation.state.program
        text = program.text.replace(*plan.edit) + f"int plan{at};  // {at}\n"
        return Action(program.with_text(text), f"{plan.words}\n{fenced(text, 'cpp')}")

    async def evaluate(self, problem: Problem, action: Action, incumbent: Action | None = None) -> Evaluation:
        at = int(action.program.text.rsplit("// ", 1)[1]) if action.program else self.taken[-1]
        plan = self.plans[at % len(self.plans)]
        cases = (CaseResult("01", plan.outcome, 0.1, True),) if plan.outcome >= Outcome.TIMEOUT else ()
        told = Feedback(plan.reasons, plan.diagnostics, cases)
        timing = noisy_timing(plan.speed, at) if plan.outcome is Outcome.CORRECT and plan.timed else None
        if timing is not None and plan.rate:
            timing = replace(timing, gflops=Interval(plan.rate, plan.rate - 1, plan.rate + 1), roofline=100.0)
        return Evaluation(
            plan.outcome, told, timing, warnings=plan.warnings, node=plan.node, machine_code=plan.machine_code
        )


def noisy_timing(speed: float, seed: int, pairs: int = 12, confirmed: bool = False) -> Timing:
    """A timing as a real machine gives it: its samples are drawn, its interval is made from them."""
    noise = random.Random(seed)
    samples = tuple(
        (0.41 * noise.lognormvariate(0, 0.012), 0.41 / speed * noise.lognormvariate(0, 0.012)) for _ in range(pairs)
    )
    found = median_interval([original / candidate for original, candidate in samples])
    faster = found.low > 1.01
    return Timing(
        "cpu", found, faster, "faster" if faster else "slower" if found.high < 1 else "tie", pairs, confirmed,
        ("gen-1", "gen-2"), samples, {"gen-1": speed * 1.01, "gen-2": speed * 0.99},
    )  # fmt: skip


class Confirms:
    """A referee that confirms the fastest challenger when it beats the incumbent, on samples of its own."""

    async def settle(
        self, problem: Problem, challengers: Sequence[State], incumbent: State | None
    ) -> dict[StateId, Evaluation]:
        at = max(range(len(challengers)), key=lambda index: challengers[index].reward)
        step = challengers[at].step
        assert step is not None
        if incumbent is not None and incumbent.reward >= step.reward:
            return {}
        timing = noisy_timing(step.reward, 1000 + challengers[at].id[0], pairs=20, confirmed=True)
        raced = step.evaluation.timing
        if raced is not None and raced.gflops is not None:
            single = Interval(1.25, 1.2, 1.3)
            timing = replace(timing, gflops=raced.gflops, roofline=raced.roofline, clock="wall", single=single)
        return {challengers[at].id: replace(step.evaluation, timing=timing)}


def make_run(
    folder: Path,
    plans: Sequence[Plan],
    header: dict[str, object] | None = None,
    search: Search | None = None,
    clock: FakeClock | None = None,
) -> Result:
    """A finished run of one candidate per plan in ``folder``, as ``maxcode optimize`` leaves it."""
    check_header(folder, {**HEADER, "budget": len(plans), **(header or {})}, frozenset())
    (folder / "original").mkdir(exist_ok=True)
    (folder / "original" / "slow.cpp").write_text(SLOW)
    problem = Problem("word-count", "program", "cpp", Program({"slow.cpp": SLOW}), ProgramSpec())
    double = Planned(plans)
    method = Method(double, search or BestOfN(len(plans), 4), compose(), Echo())
    with Record(folder, clock or FakeClock(1_770_000_000.0)) as record:
        return optimize(problem, method, double, Run(len(plans), record=record, concurrency=1), Confirms())


WON = (
    Plan(speed=1.08),
    Plan(Outcome.UNBUILT, reasons=("it does not compile",), diagnostics="slow.cpp:30:5: error: no match for <<"),
    Plan(speed=1.002, edit=("i++", "++i"), words="pre-increment"),
    Plan(Outcome.WRONG, reasons=("test 01: line 3: expected 17, got 16",), edit=("<= n", "< n")),
    Plan(Outcome.UNPARSED, words="I am not sure how to make this faster.", reasons=("no program in the completion",)),
    Plan(speed=1.62, edit=("    int n;\n", "    ios::sync_with_stdio(false);\n    cin.tie(nullptr);\n    int n;\n")),
    Plan(speed=0.83, edit=("map<string, int> counts", "map<string, int, greater<string>> counts")),
    Plan(Outcome.TIMEOUT, reasons=("a held-out test failed",)),
)
