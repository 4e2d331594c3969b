"""Public repositories: is a historic performance commit judged faster, and base against itself not?

    python benchmarks/repositories.py --clones FOLDER --venv VENV [NAME ...] --json FILE

``benchmarks/repositories.toml`` names repositories, commits and workloads; FOLDER has a clone of each, in a folder that
is called as the table says (a work tree, or OWNER+NAME/repo).  For each the parent of the commit is base, with the
workload committed on top of it in a clone of our own; the candidate is what the commit changes in the files to edit.
VENV is a virtual environment of /usr/bin/python3 with pytest and python-dateutil, not in /tmp or /usr.  ``--equal``
also judges base with one more comment.

The columns: the verdict, the speed-up with its 95 % interval, the level of trust, wall seconds and MB of a candidate
(its build from base's build tree, and what differs from base), and seconds for everything.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.types import Action, Evaluation, Problem, Program, State, Step
from maxcode.errors import InputError, MaxcodeError
from maxcode.evaluate.repo.allowed import why_protected
from maxcode.evaluate.repo.evaluator import RepoEvaluator
from maxcode.evaluate.repo.git import contents, git, tracked
from maxcode.problems import load
from maxcode.sandbox.selftest import open_safe

LIST = Path(__file__).with_suffix(".toml")
KEYS = ("edit", "setup", "build", "tests", "benchmark", "env", "language", "same_output")
Row = dict[str, Any]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--equal", action="store_true")
    options = parser.parse_args()
    print("\n".join([HEAD, *map(line, all_measured(options, measured, line))]))


def parser_of(words: str | None) -> argparse.ArgumentParser:
    """The options of a benchmark on the list."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the list; none: all")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--venv", type=Path, default=Path("/nowhere"))
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--json", type=Path)
    return parser


def all_measured(
    options: argparse.Namespace,
    measure: Callable[[str, Row, argparse.Namespace], list[Row]],
    told: Callable[[Row], str],
) -> list[Row]:
    """The rows of the asked repositories, told and written as soon as they are there."""
    rows: list[Row] = []
    for name, entry in tomllib.loads(options.list.read_text()).items():
        if not options.names or name in options.names:
            found = measure(name, entry, options)
            for row in found:
                print(told(row), file=sys.stderr, flush=True)
            rows += found
            if options.json:
                options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def measured(name: str, entry: Row, options: argparse.Namespace) -> list[Row]:
    """The rows of one repository: the commit, and base with a comment more."""
    with tempfile.TemporaryDirectory(prefix="maxcode-repositories-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch, "repository")
        try:
            problem, candidate = prepared(entry, folder, options)
            return anyio.run(judged, name, problem, candidate, options.equal)
        except (MaxcodeError, subprocess.CalledProcessError) as error:
            return [{"name": name, "verdict": f"not judged: {error}"}]


def prepared(entry: Row, folder: Path, options: argparse.Namespace) -> tuple[Problem, Program]:
    """The problem on base with the workload, and the candidate."""
    places = (options.clones / entry["clone"] / "repo", options.clones / entry["clone"])
    clone = next((path for path in places if path.is_dir()), None)
    if clone is None:
        raise InputError(f"there is no clone of {entry['clone']} in {options.clones}; make one with `git clone`")
    asked("git", "clone", "-q", "--no-checkout", "--shared", str(clone), str(folder))
    asked("git", "-C", str(folder), "checkout", "-q", "--detach", f"{entry['commit']}^")
    for path, text in entry["files"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    own = ("-c", "user.name=maxcode", "-c", "user.email=maxcode@localhost")
    asked("git", "-C", str(folder), "add", "-f", *entry["files"])
    asked("git", "-C", str(folder), *own, "commit", "-q", "-m", "workload")
    table = {key: entry[key] for key in KEYS if key in entry}
    table = json.loads(json.dumps(table).replace("{venv}", str(options.venv)))
    show = [str(options.venv)] if "{venv}" in json.dumps(entry) else []
    empty = folder.with_name("problem.toml")
    empty.write_text('kind = "repo"\n')
    problem = load(empty, overrides={**table, "kind": "repo", "repo": "repository", "show": show}).problem
    return problem, patch_of(folder, entry["commit"], problem)


def patch_of(folder: Path, commit: str, problem: Problem) -> Program:
    """What a commit changes in the files that may be edited."""
    told = git(folder, "diff", "--name-only", "-z", f"{commit}^", commit).stdout
    paths = [path for path in filter(None, told.split("\0")) if not why_protected(path, problem.spec.repo_spec)]
    here = tracked(folder, commit)
    texts = contents(folder, [here[path].blob for path in paths])
    new = {path: data.decode() for path, data in zip(paths, texts, strict=True)}
    return Program({**problem.program.files, **new})


async def judged(name: str, problem: Problem, candidate: Program, equal: bool) -> list[Row]:
    evaluator = RepoEvaluator(await open_safe(), keeps=False)
    began = time.monotonic()
    base = await evaluator.base(problem)
    admission_s = time.monotonic() - began
    arms = {name: candidate, **({f"{name} (equal)": commented(problem)} if equal else {})}
    rows = []
    for label, program in arms.items():
        began = time.monotonic()
        found = await confirmed(evaluator, problem, program)
        row = row_of(label, found)
        row |= {"trust": base.trust.level, "admission_s": admission_s, "seconds": time.monotonic() - began}
        rows.append(row)
    return rows


async def confirmed(evaluator: RepoEvaluator, problem: Problem, program: Program) -> Evaluation:
    """As `maxcode evaluate` judges it."""
    found = await evaluator.evaluate(problem, Action(program))
    if found.timing is None or not found.timing.significant:
        return found
    state = State(problem, State(problem), Step(Action(program), found, 0.0), (1, 0))
    return (await evaluator.settle(problem, [state], None))[state.id]


def commented(problem: Problem) -> Program:
    """Base with a comment more at the end of its first file."""
    begin, end = ("# ", "") if problem.language == "python" else ("/* ", " */")
    first = problem.program
    text = f"{first.files[first.name].rstrip()}\n{begin}the same{end}\n"
    return replace(first, files={**first.files, first.name: text})


def row_of(name: str, found: Evaluation) -> Row:
    timing = found.timing
    if timing is None:
        return {"name": name, "verdict": f"{found.outcome.value}: {'; '.join(found.feedback.reasons)[:300]}"}
    speedup = [timing.speedup.value, timing.speedup.low, timing.speedup.high]
    costs = {key: found.measures[key] for key in ("build_s", "build_mb")}
    word = "faster" if timing.significant and timing.confirmed else timing.verdict
    return {"name": name, "verdict": word, "speedup": speedup, "pairs": timing.pairs, **costs,
            "median_s": timing.median_seconds}  # fmt: skip


HEAD = f"{'repository':24} {'verdict':8} {'speed-up':22} {'trust':15} {'build s':>8} {'MB':>7} {'all s':>7}"


def line(row: Row) -> str:
    if "speedup" not in row:
        return f"{row['name']:24} {row['verdict']}"
    value, low, high = row["speedup"]
    ratio = f"{value:.3f}x [{low:.3f}, {high:.3f}]"
    costs = f"{row['build_s']:8.1f} {row['build_mb']:7.2f} {row['seconds']:7.0f}"
    return f"{row['name']:24} {row['verdict']:8} {ratio:22} {row['trust']:15} {costs}"


def asked(*words: str) -> None:
    if shutil.which(words[0]) is None:
        raise SystemExit(f"{words[0]} is not installed")
    subprocess.run(words, check=True, capture_output=True)


if __name__ == "__main__":
    main()
