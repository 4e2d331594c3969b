"""Checks `maxcode race` on real commands: false verdicts between equal commands, and what it finds of a true 5 %.

    python benchmarks/race_equal.py [--races 1000] [--changed 50] [--suites 0] [--seconds 480] [--rows FILE]

Equal: base and head are the same command (sort, gzip, git log, Python loops, ...).  Changed: head does 5 % more work,
and both so much that the start of a process hardly counts.  Each command runs without the sandbox, by the code of
`maxcode race --trust-both`; most pairs 60.  Suites: equal commands that print 62 benchmarks each, judged together; what
counts is a suite with any benchmark that is called faster or slower.  Beside the verdict stand three usual rules on the
same runs: Welch's t-test of the means (p < 0.05; the means are those that hyperfine prints), a 5 % band around the
ratio of means, and the Mann-Whitney test (p < 0.05).  The runs are interleaved, which favours these rules: their tools
run one side after the other.  With --goal instructions a change has the usual work, because counting takes fifty times
as long; give it a FILE of its own.  Every race is written as a line of FILE at its end; the same command resumes.  It
ends after SECONDS.  With --own-lane other maxcode runs on the machine are a load like any other.

"control" counts the races in which base differed from itself, which gives no verdict.  The bound is the one-sided 95 %
Clopper-Pearson bound.  Exit status 1 if a promised rate of 1 % is refuted (the lower bound is above it).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio

from maxcode.bench.versions import RaceAsked, VersionsRaced, race_versions, version_race
from maxcode.bench.versions.version_race import WHOLE
from maxcode.core.stats import student
from maxcode.core.types import Clock
from maxcode.errors import InputError
from maxcode.evaluate.machine.machine import pressure
from maxcode.sandbox.lanes import timing_lane
from trust.bounds import lower_bound, upper_bound
from trust.rows import Progress, Row, Rows, table

PROMISE = 0.01
PYTHON = "/usr/bin/python3 -I -c"
LINES = 12_000  # of the text that the commands read
CHANGE = 1.05
LONGER = 8  # times the work in the races with a change: else a process's start hides half of the 5 %


class Command(NamedTuple):
    """A shell command; ``{n}`` is the amount of work, or empty where that is the text.  It starts in a folder with
    text.txt, in a git repository with four commits."""

    text: str
    work: int = 0


COMMANDS = {
    "python loop": Command(f"{PYTHON} 's = 0\nfor i in range({{n}}): s += i * i % 7'", 200_000),
    "python strings": Command(f"{PYTHON} 'd = dict()\nfor i in range({{n}}): d[str(i)] = i'", 50_000),
    "awk loop": Command("awk 'BEGIN {{ for (i = 0; i < {n}; i++) s += i * i % 7 }}'", 250_000),
    "perl loop": Command("perl -e 'for ($i = 0; $i < {n}; $i++) {{ $s += $i * $i % 7 }}'", 300_000),
    "sort": Command("sort text.txt"),
    "sort numbers": Command("sort -n -k2 text.txt"),
    "gzip": Command("gzip -c -6 text.txt"),
    "bzip2": Command("bzip2 -c -1 text.txt"),
    "sha512sum": Command("sha512sum text.txt text.txt text.txt text.txt text.txt text.txt text.txt text.txt"),
    "grep": Command("grep -c -E '(a.*b|c.*d)+7' text.txt"),
    "git log": Command("git --no-pager log -p --word-diff"),
    "tar": Command("tar -cf - text.txt .git | cat"),
}
SUITE = "62 benchmarks"
_LOOPS = """import time
for row in range(62):
    began, s = time.process_time(), 0
    for i in range(1500 + 60 * row): s += i * i % 7
    print(f"METRIC row{row}={time.process_time() - began}")"""
CHANGED = [name for name, command in COMMANDS.items() if command.work]


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    generator = random.Random(0)
    lines = [f"{generator.randbytes(6).hex()} {generator.randrange(10**6)} {number}" for number in range(LINES)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")


async def history(folder: Path) -> None:
    """A repository with some commits."""
    own = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@localhost")
    await anyio.run_process([*own, "init", "-q"])
    for number in range(4):
        text = "".join(f"line {at} of {at % (number + 2)}\n" for at in range(1500))
        (folder / "notes.txt").write_text(text)
        await anyio.run_process([*own, "add", "notes.txt"])
        await anyio.run_process([*own, "commit", "-q", "-m", f"change {number}"])


def asked_for(name: str, change: float, pairs: int, goal: Clock = "cpu") -> RaceAsked:
    if name == SUITE:
        text = f"{PYTHON} '{_LOOPS}'"
        return RaceAsked(text, text, read="metric", trusts_both=True, same_sides=True, seconds=120, pairs=pairs)
    command = COMMANDS[name]
    work = command.work * (1 if change == 1 or goal == "instructions" else LONGER)
    texts = [command.text.format(n=round(work * by)) if work else command.text for by in (1.0, change)]
    base, head = (f"{text} >/dev/null" for text in texts)
    seconds = 600 if goal == "instructions" else 120
    return RaceAsked(base, head, goal=goal, trusts_both=True, same_sides=True, seconds=seconds, pairs=pairs)


def usual_rules(samples: Sequence[dict[str, dict[str, float]]]) -> dict[str, str]:
    """The verdicts of the usual rules on the runs of base and head; none of those that print benchmarks."""
    if not samples:
        return dict.fromkeys(RULES, "-")
    base, head = ([pair[arm][WHOLE] for pair in samples] for arm in ("base", "head"))
    ratio = statistics.fmean(base) / statistics.fmean(head)
    word = "faster" if ratio > 1 else "slower"
    return {
        "t-test of means": word if is_welch(base, head) else "-",
        "5 % band": word if max(ratio, 1 / ratio) > 1.05 else "-",
        "Mann-Whitney": _median_word(base, head) if mann_whitney_p(base, head) < 0.05 else "-",
    }


def _median_word(base: Sequence[float], head: Sequence[float]) -> str:
    return "faster" if statistics.median(base) > statistics.median(head) else "slower"


def is_welch(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether Welch's t-test gives p < 0.05."""
    parts = [statistics.variance(values) / len(values) for values in (one, other)]
    if not sum(parts):
        return False
    t = abs(statistics.fmean(one) - statistics.fmean(other)) / math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(part**2 / (len(one) - 1) for part in parts)
    return t > student(max(1, int(freedom)), 0.95)


def mann_whitney_p(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value by the normal approximation, with the correction for ties."""
    count, rest = len(one), len(other)
    u = sum((a > b) + (a == b) / 2 for a in one for b in other)
    together = [*one, *other]
    ties = sum(many**3 - many for many in (together.count(value) for value in set(together)))
    total = count + rest
    variance = count * rest / 12 * (total + 1 - ties / (total * (total - 1)))
    return math.erfc(abs(u - count * rest / 2) / math.sqrt(2 * variance)) if variance else 1.0


def row_of(name: str, change: float, number: int, found: VersionsRaced, seconds: float) -> Row:
    """The line of a race."""
    assert found.ratio is not None
    return {
        "command": name, "change": change, "number": number, "verdict": found.verdict, "doubt": found.doubt,
        "ratio": found.ratio.value, "low": found.ratio.low, "high": found.ratio.high, "pairs": found.pairs,
        "pressure": found.pressure, "seconds": round(seconds, 3),
        "flagged": sum(one.verdict in ("faster", "slower") for one in found.rows) if name == SUITE else 0,
        **usual_rules(() if found.read else found.samples),  # type: ignore[arg-type]
    }  # fmt: skip


async def measure(options: argparse.Namespace, rows: Rows) -> None:
    """Runs the races without a line, in turns of all commands, until the time is over."""
    races, changed = options.races, options.changed
    plans = [(name, 1.0, number) for number in range(-(-races // len(COMMANDS))) for name in COMMANDS][:races]
    plans += [(SUITE, 1.0, number) for number in range(options.suites)]
    more = [(name, CHANGE, number) for number in range(-(-changed // len(CHANGED))) for name in CHANGED][:changed]
    held = {(row["command"], row["change"], row["number"]) for row in rows.found}
    left = [plan for plan in sorted([*plans, *more], key=lambda plan: plan[2]) if plan not in held]
    progress, end = Progress([5.0] * len(left)), time.monotonic() + options.seconds
    for name, change, number in left:
        if time.monotonic() > end:
            return
        began = time.monotonic()
        try:
            found = await race_versions(asked_for(name, change, options.pairs, options.goal))
        except InputError as error:
            raise SystemExit(f"{name}: {error}") from error
        rows.add(row_of(name, change, number, found, time.monotonic() - began))
        progress.step()


RULES = ("t-test of means", "5 % band", "Mann-Whitney")


def lines(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The table: each command separately, then all, for equal and for changed commands."""
    found = []
    for change in (1.0, CHANGE):
        for name in (*COMMANDS, SUITE, "all"):
            kind = [row for row in rows if row["change"] == change and is_of(row, name)]
            if kind:
                found.append(_summed(kind, name, change))
    return found


def is_of(row: Row, name: str) -> bool:
    """Whether a line is of a command; "all" are the single ones."""
    return row["command"] == name or (name == "all" and row["command"] != SUITE)


def _summed(kind: Sequence[Row], name: str, change: float) -> dict[str, object]:
    words = {word: _count(kind, "verdict", word) for word in ("faster", "slower", "no change", "undecided")}
    rules = {f"{rule} f/s": "/".join(str(_count(kind, rule, word)) for word in ("faster", "slower")) for rule in RULES}
    return {
        "command": name, "head": "same" if change == 1 else f"{change - 1:+.0%} work", "races": len(kind), **words,
        "control": sum(row["doubt"] for row in kind), **rules,
        "pairs": f"{statistics.fmean(row['pairs'] for row in kind):.1f}",
        "seconds": f"{statistics.fmean(row['seconds'] for row in kind):.1f}",
    }  # fmt: skip


def _count(rows: Sequence[Row], key: str, word: str) -> int:
    return sum(row[key] == word for row in rows)


def promise(rows: Sequence[Row]) -> dict[str, object]:
    """The share of false verdicts among equal commands, with its bound, beside the usual rules."""
    equal = [row for row in rows if row["change"] == 1 and row["command"] != SUITE]
    told: dict[str, object] = {"races of equal commands": len(equal), "refuted": False}
    for word in ("faster", "slower"):
        false = _count(equal, "verdict", word)
        told[f"false {word}"] = false
        told[f"upper 95 % bound of false {word}"] = round(upper_bound(false, len(equal)), 5)
        told["refuted"] = told["refuted"] or (bool(equal) and lower_bound(false, len(equal)) > PROMISE)
    for rule in RULES:
        told[f"false by {rule}"] = sum(row[rule] != "-" for row in equal)
    suites = [row for row in rows if row["command"] == SUITE]
    wrong = sum(row["flagged"] > 0 for row in suites)
    told |= {"equal suites of 62": len(suites), "suites with a benchmark called faster or slower": wrong}
    if suites:
        told["upper 95 % bound of such suites"] = round(upper_bound(wrong, len(suites)), 5)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="races of equal commands")
    parser.add_argument("--changed", type=int, default=50, help="races with a true change of 5 %%")
    parser.add_argument("--suites", type=int, default=0, help="races of equal commands that print 62 benchmarks")
    parser.add_argument("--pairs", type=int, default=60, help="most pairs of a race")
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--goal", choices=("cpu", "wall", "instructions"), default="cpu")
    parser.add_argument("--own-lane", action="store_true", help="do not wait for other maxcode runs on this machine")
    parser.add_argument("--rows", type=Path, default=Path("runs/race_equal.jsonl"))
    parser.add_argument("--json", type=Path, default=Path("runs/race_equal.json"))
    options = parser.parse_args()
    before, rows = pressure(), Rows(options.rows.resolve())
    report_at = options.json.resolve()

    async def all_races() -> None:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as beside:
            if options.own_lane:
                version_race.timing_lane = partial(timing_lane, Path(beside) / "lane.lock")  # type: ignore[attr-defined]
            prepare(Path(folder))
            await history(Path(folder))
            with contextlib.chdir(folder):
                await measure(options, rows)

    anyio.run(all_races)
    shown, verdict = lines(rows.found), promise(rows.found)
    print(table(shown))
    print("\n".join(f"{key}: {value}" for key, value in verdict.items()))
    report_at.parent.mkdir(parents=True, exist_ok=True)
    report_at.write_text(json.dumps({"promise": verdict, "rows": shown, "pressure_before": before}, indent=1) + "\n")
    sys.exit(bool(verdict["refuted"]))


if __name__ == "__main__":
    main()
