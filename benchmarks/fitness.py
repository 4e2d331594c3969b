"""What a search believes: the fitness that a user writes against the referee.  Cheats accepted, and the winner's curse.

    python benchmarks/fitness.py cheats [--only NAME ...] [--json FILE]
    python benchmarks/fitness.py curse [--problems NAME ...] [--seeds 5] [--steps 10] [--rows FILE] [--json FILE]

The naive fitness is that of the templates of search tools: build, run the tests, compare, take the time (here the
lowest CPU time of three runs on the slowest test, which is kinder than most; ``peers/scorer.py``).  It runs in the
sandbox.

cheats: every cheat of the gallery of programs goes through it; "accepted" is correct and at least 1.05 times as fast.
What it accepts goes to the referee too, where any score above 1 would be an acceptance.

curse: the same hill climb with each fitness, from the same proposals of the built-in rules: a candidate replaces the
best one if its score is higher.  "claimed" is the speed-up of the last best one as the search saw it; "confirmed" is
what a fresh evaluation says of it.  Claimed over confirmed is 1 for a search that can believe its fitness; it is below
1 where the tests that the naive fitness may see are too short to show a gain.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from maxcode.core.stats import bootstrap, geometric_mean
from maxcode.core.types import Observation, Section
from maxcode.policy.rules.rewriter.policy import propose
from maxcode.run.evaluation import evaluate_source
from maxcode.run.referee import Referee
from maxcode.run.request import Request
from peers.endpoint import observed
from peers.scorer import Scorer
from redteam import Candidate, candidates, secret_file
from trust.host import ORIGINALS
from trust.rows import Row, Rows

EXAMPLES = Path(__file__).parent.parent / "examples"
PROBLEMS = ("caesar", "heat", "jobs", "looksay", "partitions", "tight")
GAIN = 1.05  # what a user would call faster


class Best(NamedTuple):
    """The best program of a search, its score, and the speed-up that the search would report."""

    text: str
    score: float
    claimed: float


def climbed(scorer: Scorer, fitness: Any, seed: int, steps: int) -> Best:
    """A hill climb with the proposals of the rules."""
    told = scorer.described()
    best = Best(told["program"], 1.0, 1.0)
    said = Section("Problem", f"language: {told['language']}\nflags: {told['flags']}\n")
    for step in range(steps):
        action = propose(Observation(*observed(best.text, told["language"], said), seed * 1000 + step))
        assert action.program is not None
        text = action.program.files[action.program.name]
        if text != best.text:
            score, claimed = fitness(text)
            best = Best(text, score, claimed) if score > best.score else best
    return best


def naive_of(scorer: Scorer, text: str) -> tuple[float, float]:
    found = anyio.from_thread.run(scorer.answer, json.dumps({"kind": "naive", "program": text}).encode())
    return found.get("score", 0.0), found.get("score", 0.0)


def referee_of(referee: Referee, text: str) -> tuple[float, float]:
    found = referee(f"{text}\n")
    return found.score, found.interval.value if found.interval is not None else 1.0


def confirmed(folder: Path, text: str, original: str) -> float:
    """What a fresh evaluation says: 1 without a significant difference, 0 for a wrong program."""
    if text == original:
        return 1.0
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, f"candidate{next(folder.glob('slow.*')).suffix}")
        path.write_text(text)
        found = evaluate_source(path, Request(folder))
    if found.outcome.value != "correct":
        return 0.0
    return found.speedup.value if found.speedup is not None and found.speedup.significant else 1.0


def curse(problems: Sequence[str], seeds: int, steps: int, rows: Rows) -> None:
    done = {(row["problem"], row["seed"], row["fitness"]) for row in rows.found}

    async def of_problem(name: str) -> None:
        folder = EXAMPLES / name
        scorer = await Scorer.open(folder)
        original = scorer.described()["program"]
        for seed in range(seeds):
            for kind in ("naive", "referee"):
                if (name, seed, kind) in done:
                    continue
                if kind == "naive":
                    scorer._naive = None  # its time of the original belongs to one search
                    best = await anyio.to_thread.run_sync(climbed, scorer, partial(naive_of, scorer), seed, steps)
                else:
                    with Referee(folder) as referee:
                        best = await anyio.to_thread.run_sync(
                            climbed, scorer, partial(referee_of, referee), seed, steps
                        )
                truth = await anyio.to_thread.run_sync(confirmed, folder, best.text, original)
                rows.add({"problem": name, "seed": seed, "fitness": kind, "claimed": best.claimed, "confirmed": truth})
                print(rows.found[-1], file=sys.stderr, flush=True)

    for name in problems:
        anyio.run(of_problem, name)


def curse_table(rows: Sequence[Row]) -> Row:
    """For each fitness: claims of a gain, those confirmed, wrong winners, and claimed over confirmed."""
    found: Row = {}
    print("| fitness | searches | claim a gain | of these confirmed | wrong | claimed / confirmed | worst | gain |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("naive", "referee"):
        mine = [row for row in rows if row["fitness"] == kind]
        ratios = [row["claimed"] / row["confirmed"] for row in mine if row["confirmed"]]
        claims = [row for row in mine if row["claimed"] >= 1.01]
        held = sum(row["confirmed"] > 1 for row in claims)
        wrong = sum(not row["confirmed"] for row in mine)
        spread = bootstrap(ratios, geometric_mean)
        found[kind] = {"searches": len(mine), "claims": len(claims), "held": held, "wrong": wrong}
        found[kind] |= {"ratio": spread.value, "low": spread.low, "high": spread.high, "worst": max(ratios)}
        gained = geometric_mean([row["confirmed"] or 1.0 for row in mine])
        found[kind]["confirmed"] = gained
        shown = f"{spread.value:.3f} [{spread.low:.3f}, {spread.high:.3f}] | {max(ratios):.2f} | {gained:.2f}x"
        print(f"| {kind} | {len(mine)} | {len(claims)} | {held} | {wrong} | {shown} |")
    return found


async def naive_scores(cheats: Sequence[Candidate], secret: Path) -> list[Row]:
    """The naive score of every cheat."""
    scorers: dict[str, Scorer] = {}
    rows: list[Row] = []
    for number, one in enumerate(cheats, 1):
        if one.against not in scorers:
            scorers[one.against] = await Scorer.open(ORIGINALS / one.against)
        text = one.text(ORIGINALS / one.against, secret)
        found = await scorers[one.against].answer(json.dumps({"kind": "naive", "program": text}).encode())
        accepted = found.get("outcome") == "correct" and found["score"] >= GAIN
        rows.append({"name": one.name, "kind": one.kind, "against": one.against, "naive": accepted, **found})
        if number % 20 == 0:
            print(f"{number} of {len(cheats)}", file=sys.stderr, flush=True)
    return rows


def cheats(only: Sequence[str]) -> list[Row]:
    known = {one.name: one for one in candidates() if not one.is_honest and one.kind != "function"}
    asked = [one for one in known.values() if not only or one.name in only]
    with secret_file() as (secret, _):
        rows = anyio.run(naive_scores, asked, secret)
        referees: dict[str, Referee] = {}
        for row in rows:
            row["referee"] = False
            if row["naive"]:
                one = known[row["name"]]
                judge = referees.setdefault(one.against, Referee(ORIGINALS / one.against))
                row["referee"] = judge(one.text(ORIGINALS / one.against, secret) + "\n").score > 1
                print(row["name"], row["score"], row["referee"], file=sys.stderr, flush=True)
    print("| kind of cheat | cheats | the naive fitness accepts | of these the referee | largest naive score |")
    print("|---|---|---|---|---|")
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all"]:
        mine = [row for row in rows if kind in (row["kind"], "all")]
        most = max((row["score"] for row in mine if row["naive"]), default=0.0)
        print(
            f"| {kind} | {len(mine)} | {sum(row['naive'] for row in mine)} | {sum(row['referee'] for row in mine)} | "
            f"{most:.3g} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("cheats", "curse"))
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--problems", nargs="*", default=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rows", type=Path, default=Path("runs/fitness.jsonl"))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.part == "cheats":
        found: Any = cheats(asked.only)
    else:
        rows = Rows(asked.rows)
        curse(asked.problems, asked.seeds, asked.steps, rows)
        found = curse_table(rows.found)
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
