"""Recorded answers of a language model, measured anew on this machine; no key and no network are needed.

    python benchmarks/recorded.py                                replay all; table on stdout, JSON in OUT/table.json
    python benchmarks/recorded.py --only orbits stencil          these problems
    python benchmarks/recorded.py --then                         the table of what was measured when the model answered
    python benchmarks/recorded.py --estimate                     what `--dry-run` says of each, and what it had spent
    python benchmarks/recorded.py --from RUN ... --keep          show run folders of `maxcode optimize --policy llm:M`,
                                                                 and keep their prompts and answers

A recording is a folder below examples/recorded: run.toml says how the run was made, calls.jsonl.gz has every prompt
with its answer, result.json what was measured when the model answered.  A replay asks no model: it builds, verifies and
times the recorded answers here.  A prompt holds measured figures, so in a replay later answers are to slightly other
prompts, and another candidate may be expanded; its answers are those that the recorded run got for its own.  A
recording that has too few answers for the search here is named and left out.  The same command resumes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tomli_w

from maxcode import optimize_program
from maxcode.core.files import read_toml
from maxcode.core.stats import bootstrap, geometric_mean, sign_flip_p
from maxcode.errors import Interrupted, MaxcodeError, ProviderError
from maxcode.evaluate.target import where
from maxcode.llm.journal import CALLS
from maxcode.run.admission import Admission, admit
from maxcode.run.complete_request import completed
from maxcode.run.estimate import estimated
from maxcode.run.method_parts import method_parts
from maxcode.run.request import Request

EXAMPLES = Path(__file__).parent.parent / "examples"
RECORDED = EXAMPLES / "recorded"
KEPT = (
    *("version", "example", "problem", "language", "flags", "checker", "goal", "policy", "method", "critic", "answer"),
    *("without", "prompts", "seed", "budget", "shape", "digest", "tests"),
)  # of run.toml; the rest is about one machine
FEWEST = 3  # runs of which an interval or a p is told
Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="PROBLEM")
    parser.add_argument("--from", nargs="+", dest="runs", type=Path, default=[], metavar="RUN")
    parser.add_argument("--then", action="store_true", help="run nothing; show what was measured at the recording")
    parser.add_argument("--estimate", action="store_true", help="run nothing; compare estimates with what was spent")
    parser.add_argument("--keep", action="store_true", help="write the runs into examples/recorded")
    parser.add_argument("--out", type=Path, default=Path("runs/demo-llm"))
    options = parser.parse_args()
    failed = 0
    try:
        if options.runs:
            rows = [as_row(run, json.loads((run / "result.json").read_text())) for run in options.runs]
            if options.keep:
                for run in options.runs:
                    keep(run)
        elif options.estimate:
            estimates(options.only)
            return 0
        elif options.then:
            rows = [then(folder) for folder in recordings(options.only)]
        else:
            rows, failed = replayed(options.only, options.out)
    except Interrupted as stopped:
        print(f"stopped: {stopped}; the same command goes on", file=sys.stderr)
        return 130
    except MaxcodeError as error:
        print(f"recorded.py: {error}", file=sys.stderr)
        return error.exit_code
    show(rows)
    return failed


def keep(run: Path) -> None:
    """Copies what a replay needs from a run folder into examples/recorded/NAME."""
    header = read_toml(run / "run.toml")
    header["example"] = example_of(header)
    folder = RECORDED / f"{header['example']}-{re.sub('[^a-z]+', '-', header['method'])}-{header['seed']}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.toml").write_text(tomli_w.dumps({key: header[key] for key in KEPT if key in header}))
    with gzip.GzipFile(folder / f"{CALLS}.gz", "wb", mtime=0) as file:
        file.write((run / CALLS).read_bytes())
    result = json.loads((run / "result.json").read_text())
    told = {key: result[key] for key in ("outcome", "speedup", "confirmed", "outcomes", "spent") if key in result}
    (folder / "result.json").write_text(json.dumps(told, indent=1) + "\n")


def replayed(only: Sequence[str], out: Path) -> tuple[list[Row], int]:
    """Runs every recording with its answers; returns the rows and the exit status."""
    rows, failed = [], 0
    for folder in recordings(only):
        header = read_toml(folder / "run.toml")
        source, overrides = given(header["example"])
        if overrides and find_spec("torch") is None:
            print(f"{folder.name}: left out, it needs PyTorch: pip install 'maxcode[torch]'", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory(prefix="recorded-") as name:
            past = Path(shutil.copytree(folder, Path(name, "run")))
            (past / CALLS).write_bytes(gzip.decompress((past / f"{CALLS}.gz").read_bytes()))
            try:
                found = optimize_program(
                    source, overrides=overrides,
                    policy=header["policy"], method=header["method"], critic=header["critic"], budget=header["budget"],
                    seed=header["seed"], replay=past, out=out / folder.name, certificate=False,
                )  # fmt: skip
            except ProviderError as error:
                failed = error.exit_code
                print(f"{folder.name}: {error}", file=sys.stderr, flush=True)
                continue
        result = json.loads(found.as_json())
        rows.append({**as_row(out / folder.name, result), "then": then(folder)["speedup"]})
        print(line(rows[-1]), file=sys.stderr, flush=True)
    if rows:
        (out / "table.json").write_text(json.dumps(rows, indent=1) + "\n")
    return rows, failed


def recordings(only: Sequence[str] = ()) -> list[Path]:
    """The folders of the recordings, of all problems or of some."""
    folders = sorted(path.parent for path in RECORDED.glob("*/run.toml"))
    return [folder for folder in folders if not only or read_toml(folder / "run.toml")["example"] in only]


def then(folder: Path) -> Row:
    """A recording as a row, with what was measured when the model answered."""
    result = json.loads((folder / "result.json").read_text())
    return as_row(folder, {"candidates": sum(result["outcomes"].values()), **result})


def estimates(only: Sequence[str]) -> None:
    """Prints a line for each recording: calls and tokens, estimated over spent, and the geometric means."""
    ratios: dict[str, list[float]] = defaultdict(list)
    known: dict[str, Admission] = {}
    for folder in recordings(only):
        header, spent = read_toml(folder / "run.toml"), then(folder)["spent"]
        source, overrides = given(header["example"])
        request = Request(source, policy=header["policy"], method=header["method"], critic=header["critic"],
                          without=("setting",), budget=header["budget"], overrides=overrides)  # fmt: skip
        job = completed(request)
        if header["example"] not in known:
            with where(None) as target:
                known[header["example"]] = admit(job.loaded, target, is_here=True)
        with method_parts(job.request, asks=False) as parts:
            usual = estimated(job.request, parts, known[header["example"]]).expected
        told = []
        for name, value in (("calls", usual.calls), ("prompt_tokens", usual.prompt_tokens),
                            ("completion_tokens", usual.completion_tokens), ("tokens", usual.tokens)):  # fmt: skip
            real = spent[name] if name in spent else spent["prompt_tokens"] + spent["completion_tokens"]
            ratios[name].append(value / real)
            told.append(f"{name} {value:,} / {real:,} = {value / real:.2f}")
        print(f"{header['example']:12} {header['method']:24} {'; '.join(told)}", flush=True)
    for name, of in ratios.items():
        within = sum(1 / 1.5 < ratio < 1.5 for ratio in of)
        print(f"{name}: geometric mean {geometric_mean(of):.2f}, {min(of):.2f} to {max(of):.2f}; "
              f"{within} of {len(of)} within a factor of 1.5")  # fmt: skip


def given(example: str) -> tuple[Path, dict[str, Any]]:
    """The source of an example, and what replaces keys of its problem: modules run on the CPU."""
    folder = EXAMPLES / example
    is_module = not (folder / "problem.toml").exists()
    return (folder / "problem.py", {"module": {"device": "cpu"}}) if is_module else (folder, {})


def example_of(header: Row) -> str:
    """The folder of examples/ that a run is about; a module's problem is called after its file, problem.py."""
    source = Path(header["source"])
    return source.parent.name if source.suffix else source.name


def as_row(run: Path, result: Row) -> Row:
    """A run as a row: its speed-up is 1 where nothing was confirmed to be faster."""
    header = read_toml(run / "run.toml")
    speedup = result["speedup"] if result.get("confirmed") else None
    return {
        "problem": header.get("example") or example_of(header),
        "method": header["method"],
        "seed": header["seed"],
        "speedup": speedup["value"] if speedup else 1.0,
        "low": speedup["low"] if speedup else 1.0,
        "high": speedup["high"] if speedup else 1.0,
        "candidates": result["candidates"],
        "outcomes": result.get("outcomes", {}),
        "spent": result.get("spent"),
    }


def line(row: Row) -> str:
    before = f"  (when it was recorded: {row['then']:.2f}x)" if row.get("then") else ""
    correct = f"{row['outcomes'].get('correct', 0)} of {row['candidates']} correct"
    return (
        f"{row['problem']:12} {row['method']:24} {row['seed']}  "
        f"{row['speedup']:7.2f}x [{row['low']:.2f}, {row['high']:.2f}]  {correct}{before}"
    )


def show(rows: Sequence[Row]) -> None:
    """The rows, the table of RESULTS.md, and p by sign flips of each pair of methods."""
    print("\n".join(line(row) for row in rows))
    logs: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for row in rows:
        logs[row["method"]][row["problem"], row["seed"]] = row["speedup"]
    print("\n" + "\n".join(table(rows)) + "\n")
    names = list(logs)
    for at, first in enumerate(names):
        for second in names[at + 1 :]:
            gaps = gaps_of(logs[first], logs[second])
            if len(gaps) >= FEWEST:
                print(f"{second} against {first}: p = {sign_flip_p(gaps):.2f} ({len(gaps)} pairs)")


def table(rows: Sequence[Row]) -> list[str]:
    """The table of RESULTS.md: an example a line, a method a column, "-" where there is no run; last the geometric mean
    of a method's own runs with a 95 % bootstrap interval."""
    methods = sorted({row["method"] for row in rows}, key=lambda name: str(name).removesuffix("/paper"))
    cells: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row["problem"]][row["method"]].append(row)
    lines = [f"| example | {' | '.join(f'`{method}`' for method in methods)} |", "|---" * (len(methods) + 1) + "|"]
    for problem, of in cells.items():
        told = ("; ".join(map(measured, of[method])) or "-" for method in methods)
        lines.append(f"| {problem} | {' | '.join(told)} |")
    means = (mean([row["speedup"] for row in rows if row["method"] == method]) for method in methods)
    return [*lines, f"| geometric mean, own runs | {' | '.join(means)} |"]


def measured(row: Row) -> str:
    value, low, high = (f"{row[key]:#.3g}".rstrip(".") for key in ("speedup", "low", "high"))
    return f"{value}x [{low}, {high}]"


def mean(speedups: list[float]) -> str:
    found = bootstrap(speedups, geometric_mean)
    sure = f" [{found.low:.1f}, {found.high:.1f}]" if len(speedups) >= FEWEST else ""
    return f"{found.value:.1f}x{sure}, {len(speedups)} runs"


def gaps_of(first: dict[tuple[str, int], float], second: dict[tuple[str, int], float]) -> list[float]:
    """Differences of the logarithms where both methods have a run."""
    return [math.log(second[key] / first[key]) for key in sorted(first.keys() & second.keys())]


if __name__ == "__main__":
    sys.exit(main())
