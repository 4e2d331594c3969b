"""Which references of a suite prove nothing: answers that take no work and pass, and errors of the reference itself.

    python benchmarks/degenerate.py DIR                 all files of the KernelBench contract below DIR
    python benchmarks/degenerate.py DIR --minutes 15 --only conv

Each reference runs in the sandbox with small shapes (`maxcode problems shrink`).  Two rounds have inputs as get_inputs
draws them, six have values beyond those.  The table shows the references for which an answer without work passes on the
drawn values, or on all, and those that are numerically meaningless.  A line of OUT/degenerate.jsonl is not made again;
the whole is in OUT/degenerate.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import msgspec

from maxcode.errors import MaxcodeError
from maxcode.evaluate.module.admission import beyond_letters
from maxcode.evaluate.module.contract import plans
from maxcode.evaluate.module.module_constants import replaced
from maxcode.evaluate.module.shrink import shrink
from maxcode.evaluate.module.sides import REFERENCE, ModuleSide, SideStarter
from maxcode.evaluate.module.torch_runtime import find_runtime
from maxcode.evaluate.module.track import open_track
from maxcode.evaluate.module.trivial import meaningless, trivial
from maxcode.evaluate.rounds.round import RoundFailed
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

Cells = dict[str, Any]


def main() -> None:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    files = [path for path in sorted(options.folder.rglob("*.py")) if options.only in path.name]
    record = options.out / "degenerate.jsonl"
    rows = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    rows = anyio.run(looked_at, files, rows, record, time.monotonic() + 60 * options.minutes)
    (options.out / "degenerate.json").write_text(json.dumps({"counts": counts(rows), "rows": rows}, indent=1) + "\n")
    show(rows, len(files))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="files with this in their name")
    parser.add_argument("--minutes", type=float, default=600, help="begin no file after so many")
    parser.add_argument("--out", type=Path, default=Path("runs/degenerate"))
    return parser.parse_args()


async def looked_at(files: Iterable[Path], before: Iterable[Cells], record: Path, until: float) -> list[Cells]:
    """A row for each file: one from ``before``, else a new one, which is added to the record."""
    known = {row["file"]: row for row in before}
    sandbox = await Sandbox.open()
    rows = []
    for path in files:
        name = f"{path.parent.name}/{path.name}"
        if name not in known:
            if time.monotonic() > until:
                continue
            known[name] = {"file": name, **await row_of(sandbox, path)}
            print(json.dumps(known[name]), file=sys.stderr, flush=True)
            with record.open("a") as file:
                file.write(json.dumps(known[name]) + "\n")
        rows.append(known[name])
    return rows


async def row_of(sandbox: Sandbox, path: Path) -> Cells:
    try:
        return await examined(sandbox, path)
    except (MaxcodeError, RoundFailed) as error:
        return {"refused": str(error)}


async def examined(sandbox: Sandbox, path: Path) -> Cells:
    """What passes without work.  Both processes of the reference make their weights from one seed."""
    problem = load(path).problem
    small = await shrink(sandbox, problem)
    reference = ModuleSide(replaced(problem.program.text, small.constants), REFERENCE)
    contract = msgspec.structs.replace(small.contract, weights=[])  # none are copied
    stage = SideStarter(sandbox, find_runtime(), problem, threads=1, seed=1, contract=contract)
    tolerance = problem.spec.module_spec.tolerance
    async with open_track(stage, plans(contract, 2), reference, {"original": reference}) as track:
        drawn = [call for _ in range(2) for call in await track.calls_seen()]
        letters = beyond_letters(2, contract.seconds)
        further = [call for some in letters for call in await track.calls_seen(some)]
    return {
        "constants": small.constants,
        "own_error": max(error for call in drawn for error in call.own),
        "meaningless": bool(meaningless(drawn)),
        "contract": list(small.degenerate),
        "drawn": list(trivial(contract, tolerance, drawn)),
        "all": list(trivial(contract, tolerance, [*drawn, *further])),
        "compared": len(further),
        "skipped": sum(map(len, letters)) - len(further),
    }


def counts(rows: Iterable[Cells]) -> dict[str, Cells]:
    """The counts of each folder."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        count = found.setdefault(row["file"].partition("/")[0], Counter())
        count["looked at"] += 1
        count["does not run"] += "refused" in row
        count["meaningless"] += bool(row.get("meaningless"))
        count["an answer without work passes on drawn values"] += bool(row.get("drawn"))
        count["and on values beyond them"] += bool(row.get("all"))
        count["degenerate"] += is_degenerate(row)
        count["no value beyond can be compared"] += "refused" not in row and not row["compared"]
    return {folder: dict(count) for folder, count in found.items()}


def is_degenerate(row: Cells) -> bool:
    return bool(row.get("meaningless") or row.get("contract") or row.get("all"))


def show(rows: list[Cells], files: int) -> None:
    print("| reference | own error | drawn values | all values | compared, skipped |\n|---|---|---|---|---|")
    for row in rows:
        if "refused" in row or not (is_degenerate(row) or row["drawn"]):
            continue
        wrong = ["numerically meaningless"] if row["meaningless"] else []
        whole = "; ".join([*wrong, *row["contract"], *row["all"]]) or "-"
        beyond = f"{row['compared']}, {row['skipped']}"
        print(f"| {row['file']} | {row['own_error']:.0e} | {'; '.join(row['drawn']) or '-'} | {whole} | {beyond} |")
    for folder, count in counts(rows).items():
        print(f"\n{folder}: " + ", ".join(f"{number} {name}" for name, number in count.items()))
    print(f"\n{len(rows)} of {files} files")


if __name__ == "__main__":
    main()
