"""How long a verdict takes: `maxcode evaluate` on the examples, by phase, and candidates a minute of a search.

    python benchmarks/seconds.py                                    all examples, this checkout
    python benchmarks/seconds.py --only delivery gemm --rounds 3    some of them, three times
    python benchmarks/seconds.py --against ../other                 this checkout and another one, in turn
    python benchmarks/seconds.py --search phonebook --budget 24     candidates a minute too

Every example is evaluated with up to three candidates: `faster` (a winner of `maxcode optimize --budget 4`, made once,
or --candidates FOLDER/EXAMPLE/FILE), `wrong` (a program that prints nothing), and `unbuilt` (the original and
`#error`).  "net" is without the seconds in which the command waited for the timing lane, because another maxcode
measured; what it did meanwhile costs nothing there.  Two checkouts take turns in random order, so both meet the same
load; the ratio is the median of the ratios of the rounds.  The first command on an example admits it, and later ones of
the day take what that has kept; with MAXCODE_NO_CACHE=1 each of them admits it, and builds the original, again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
WAITS = "wait for the timing lane"
FLAG = "--profile-self"  # an older checkout has no such option
EMPTY = {"cpp": "int main() { return 0; }\n", "c": "int main(void) { return 0; }\n"}
SHOWN = 12  # phases


@dataclass(frozen=True)
class Measured:
    """One command: the example, the candidate, the checkout, its seconds, and the phases it tells of."""

    example: str
    candidate: str
    side: str
    outcome: str
    seconds: float
    waited: float
    cpu_s: float
    candidates: int = 1
    phases: Mapping[str, float] = field(default_factory=dict)

    @property
    def net(self) -> float:
        return self.seconds - self.waited


@dataclass(frozen=True)
class Checkout:
    """A source tree of maxcode; ``options``: those of its command line that this script may use."""

    name: str
    root: Path

    def run(self, *words: str) -> tuple[dict[str, object], float]:
        """The JSON of a command and its wall seconds; an error of maxcode ends the benchmark."""
        environment = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        started = time.monotonic()
        command = [sys.executable, "-m", "maxcode", *words, "--json"]
        ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - started
        if ran.returncode not in (0, 1) or not ran.stdout:
            sys.exit(f"{' '.join(command)} in {self.root} ended with {ran.returncode}:\n{ran.stderr}")
        return json.loads(ran.stdout), seconds

    def profiles(self) -> bool:
        """Whether its command line can tell where its seconds go."""
        return FLAG in (self.root / "src" / "maxcode" / "cli" / "common.py").read_text()


def main() -> None:
    options = parsed()
    sides = [Checkout("here", ROOT), *([Checkout("other", options.against)] if options.against else [])]
    names = options.only or sorted(path.name for path in EXAMPLES.iterdir() if source_of(path.name).exists())
    found: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix="maxcode-seconds-") as folder:
        for name in names:
            files = {**made(name, Path(folder)), **winner(name, options)}
            for candidate, path in files.items():
                found += measured(sides, (name, candidate, path), options.rounds)
        for name in options.search:
            found += searched(sides, name, options)
    show(found, sides)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "seconds.json").write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="EXAMPLE")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT")
    parser.add_argument("--candidates", type=Path, metavar="FOLDER", help="FOLDER/EXAMPLE/FILE is its faster version")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--search", nargs="+", default=[], metavar="EXAMPLE")
    parser.add_argument("--budget", type=int, default=24)
    parser.add_argument("--out", type=Path, default=Path("runs/seconds"))
    return parser.parse_args()


def source_of(name: str) -> Path:
    """The problem of an example: its folder, or the one file of a PyTorch module."""
    folder = EXAMPLES / name
    return folder / "problem.py" if (folder / "problem.py").exists() else folder / "problem.toml"


def original_of(name: str) -> Path:
    """The source file of an example."""
    path = source_of(name)
    return path if path.suffix == ".py" else path.parent / tomllib.loads(path.read_text())["source"]


def made(name: str, folder: Path) -> dict[str, Path]:
    """Candidates that are made mechanically, by name: nothing for Python, and none that is wrong for functions."""
    original = original_of(name)
    tongue = original.suffix[1:]
    if tongue not in EMPTY:
        return {}
    texts = {"unbuilt": original.read_text() + "\n#error no program\n"}
    if "function" not in source_of(name).read_text():
        texts["wrong"] = EMPTY[tongue]
    found = {}
    for what, text in texts.items():
        found[what] = folder / name / what / original.name
        found[what].parent.mkdir(parents=True)
        found[what].write_text(text)
    return found


def winner(name: str, options: argparse.Namespace) -> dict[str, Path]:
    """A faster version: the given one, or the winner of a short search; nothing if there is none."""
    kept = (options.candidates or options.out / "candidates") / name / original_of(name).name
    if options.candidates is None and not kept.parent.exists():
        print(f"{name}: searching for a faster version", file=sys.stderr, flush=True)
        out = options.out / "searches" / name
        words = ("optimize", str(problem(name)), "--budget", "4", "--no-certificate", "--anyway", "--out", str(out))
        Checkout("here", ROOT).run(*words)
        kept.parent.mkdir(parents=True)
        if (out / "best" / kept.name).exists():
            kept.write_text((out / "best" / kept.name).read_text())
    return {"faster": kept} if kept.exists() else {}


def problem(name: str) -> Path:
    path = source_of(name)
    return path if path.suffix == ".py" else path.parent


def measured(sides: Sequence[Checkout], what: tuple[str, str, Path], rounds: int) -> Iterator[Measured]:
    """The verdict on one candidate, in every round once by every checkout."""
    name, candidate, path = what
    for _ in range(rounds):
        for side in random.SystemRandom().sample(sides, len(sides)):
            words = ("evaluate", str(path), "--against", str(problem(name)))
            told, seconds = side.run(*words, *((FLAG,) if side.profiles() else ()))
            one = row((name, candidate, side.name), told, seconds)
            print(f"{name:14} {candidate:8} {side.name:6} {one.net:7.1f} s {one.outcome}", file=sys.stderr, flush=True)
            yield one


def searched(sides: Sequence[Checkout], name: str, options: argparse.Namespace) -> Iterator[Measured]:
    """A search of one example by every checkout."""
    for side in random.SystemRandom().sample(sides, len(sides)):
        with tempfile.TemporaryDirectory(prefix="maxcode-seconds-") as out:
            words = ("optimize", str(problem(name)), "--budget", str(options.budget), "--no-certificate", "--out", out)
            told, seconds = side.run(*words, *((FLAG,) if side.profiles() else ()))
        yield row((name, "search", side.name), told, seconds)


def row(what: tuple[str, str, str], told: Mapping[str, object], seconds: float) -> Measured:
    profile = told.get("profile")
    phases: dict[str, float] = defaultdict(float)
    cpu_s = 0.0
    if isinstance(profile, dict):
        cpu_s = profile["own_cpu_s"] + profile["children_cpu_s"]
        for one in profile["phases"]:
            phases[f"{one['stage']}: {one['activity']}"] += one["wall_s"]
    waited = sum(value for phase, value in phases.items() if phase.endswith(WAITS))
    speedup = told["speedup"]
    outcome = str(told["outcome"]) + (f" {speedup['value']:.2f}x" if isinstance(speedup, dict) else "")
    count = int(str(told.get("candidates", 1)))
    return Measured(*what, outcome, round(seconds, 2), round(waited, 2), cpu_s, count, dict(phases))


def show(found: Sequence[Measured], sides: Sequence[Checkout]) -> None:
    """The medians of each kind of candidate, with their phases, and the ratio of two checkouts."""
    for candidate in dict.fromkeys(one.candidate for one in found):
        for side in sides:
            rows = [one for one in found if (one.candidate, one.side) == (candidate, side.name)]
            if not rows:
                continue
            net, cpu_s = median(one.net for one in rows), median(one.cpu_s for one in rows)
            line = f"{candidate:8} {side.name:6} {len(rows):3} commands: median {net:.1f} s, {cpu_s:.1f} s of CPU"
            if candidate == "search":
                line += (
                    f", {60 * sum(one.candidates for one in rows) / sum(one.net for one in rows):.1f} candidates/min"
                )
            print(line)
            names = {phase for one in rows for phase in one.phases if not phase.endswith(WAITS)}
            means = {phase: sum(one.phases.get(phase, 0.0) for one in rows) / len(rows) for phase in names}
            for phase, seconds in sorted(means.items(), key=lambda item: -item[1])[:SHOWN]:
                print(f"    {phase:60} {seconds:6.2f} s")
        if len(sides) == 2:
            ratios = list(ratios_of([one for one in found if one.candidate == candidate]))
            print(f"{candidate:8} other / here: median {median(ratios):.2f} of {len(ratios)} pairs")


def ratios_of(found: Sequence[Measured]) -> Iterator[float]:
    """Seconds of the other checkout over those of this one, by example and round."""
    for name in dict.fromkeys(one.example for one in found):
        here, other = (
            [one.net for one in found if (one.example, one.side) == (name, side)] for side in ("here", "other")
        )
        yield from (b / a for a, b in zip(here, other, strict=True))


if __name__ == "__main__":
    main()
