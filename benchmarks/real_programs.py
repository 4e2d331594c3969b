"""Real programs: what the built-in rules gain, what a model gains, and what the faster version by hand gains.

    python benchmarks/real_programs.py cases/*                                  rules and by hand
    python benchmarks/real_programs.py cases/* --policy llm:NAME --models FILE --method tree    a model too
    python benchmarks/real_programs.py cases/* --policy llm:NAME --base-url http://localhost:8000/v1 --budget 8

A case is a folder with slow.*, tests/ and, if there is one, a faster version by hand, fast.*.  All are measured in the
same way: verified on the tests, timed in turn with slow.*, confirmed.  The column ms is the CPU time of slow.* on its
slowest test, an interval is a 95 % interval, and "?" is a ratio that was not confirmed.  In the geometric mean a case
without a confirmed gain counts as 1; one that cannot be measured is left out.  The same command resumes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from examples import gain, measured, said, told
from maxcode.core.stats import bootstrap, geometric_mean
from maxcode.errors import Interrupted, MaxcodeError
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.run.job import optimize_source
from maxcode.run.model_tables import model_tables
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request

COLUMNS = ("rules", "policy", "by_hand")
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rules-budget", type=int, default=24, help="candidates of the built-in rules")
    parser.add_argument("--policy", default="", help="measured beside the built-in rules, such as llm:NAME")
    parser.add_argument("--models", type=Path, help="a TOML file with [model] and [policy], as for `maxcode optimize`")
    parser.add_argument("--base-url", help="address of the model")
    parser.add_argument("--method", default="", help="of the policy's runs")
    parser.add_argument("--budget", type=int, default=8, help="candidates of the policy")
    parser.add_argument("--flags", default="-O3 -std=c++17", help="of cases without problem.toml")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/real_programs"))
    options = parser.parse_args()
    rows = []
    for folder in options.folders:
        rows.append(row(folder, options))
        print(f"{len(rows)}/{len(options.folders)} {line(rows[-1])}", file=sys.stderr, flush=True)
    print("\n".join([heading(), *map(line, rows), *means(rows)]))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def row(folder: Path, options: argparse.Namespace) -> Row:
    """One case: each column is a result, or why there is none."""
    found: Row = {"case": folder.name}
    rules = request(folder, options, "rules", budget=options.rules_budget)
    found["rules"] = run(rules)
    if options.policy:
        tables = model_tables(options.models, {}, {"base_url": options.base_url})
        asked = {"models": tables.model, "ask_policy": tables.policy, "ask_critic": tables.critic}
        name = re.sub("[^a-zA-Z0-9.]+", "-", f"{options.policy}-{options.method}").strip("-")
        found["policy"] = run(
            request(folder, options, name, policy=options.policy, method=options.method, budget=options.budget, **asked)
        )
    fast = next(iter(sorted(folder.glob("fast.*"))), None)
    if fast is not None:
        found["by_hand"] = by_hand(fast, rules)
    return found


def request(folder: Path, options: argparse.Namespace, name: str, **given: Any) -> Request:
    whole = (folder / "problem.toml").exists()
    source = folder if whole else next(iter(sorted(folder.glob("slow.*"))))
    return Request(
        source,
        None if whole else folder / "tests",
        out=options.out / f"{folder.name}-{name}-{given['budget']}",
        certificate=False,
        overrides={} if whole else {"flags": options.flags.split()},
        **given,
    )


def run(asked: Request) -> Row:
    """What the run found, with ``ms``, the CPU time of the original's slowest test."""
    found: Row = {}

    def admitted(problem: Admitted) -> None:
        found["ms"] = round(1e3 * max(given.seconds for given in problem.inputs), 1)
        progress.admitted(problem)

    try:
        with SearchProgress(asked.budget) as progress:
            found |= told(optimize_source(asked, progress.watch, admitted))
    except Interrupted:
        sys.exit("interrupted; repeat the command to resume")
    except MaxcodeError as error:
        found["why"] = str(error)
    return found


def by_hand(fast: Path, asked: Request) -> Row:
    """The faster version by hand, as `maxcode evaluate` measures it; kept beside the runs."""
    assert asked.out is not None
    kept = asked.out.parent / f"{asked.out.name}-by_hand.json"
    if kept.exists():
        return dict(json.loads(kept.read_text()))
    try:
        found = measured(fast, asked)
    except Interrupted:
        sys.exit("interrupted; repeat the command to resume")
    except MaxcodeError as error:
        return {"why": str(error), "outcome": "refused"}
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(found) + "\n")
    return found


def heading() -> str:
    return f"{'case':44} {'ms':>6} " + " ".join(f"{name:28}" for name in COLUMNS)


def line(found: Row) -> str:
    cells = (shown(found.get(name)) for name in COLUMNS)
    return f"{found['case']:44} {found['rules'].get('ms', '-'):>6} " + " ".join(f"{cell:28}" for cell in cells)


def shown(result: Row | None) -> str:
    if result is None:
        return "-"
    if not result.get("speedup"):
        return str(result["why"] or result["outcome"]).partition(":")[0]  # the whole reason is in the JSON
    if not result["speedup"]["pairs"]:
        return "no gain"
    return said(result).strip() + ("" if result.get("confirmed") else " ?")


def means(rows: list[Row]) -> list[str]:
    """Lines with the geometric mean of each column over its cases; a refused case has no part in them."""
    lines, rows = [], [row for row in rows if "candidates" in row["rules"]]
    for name in COLUMNS:
        gains = [gain(row[name]) for row in rows if name in row]
        if len(gains) > 1:
            lines.append(f"geometric mean, {name}: {bootstrap(gains, geometric_mean)}, {len(gains)} cases")
    return lines


if __name__ == "__main__":
    main()
