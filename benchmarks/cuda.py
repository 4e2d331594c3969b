"""Modules on a GPU: the verdicts on cheats, the error on known ratios, and the gains of our own kernels.

    python benchmarks/cuda.py                        all three; tables on stdout, as JSON in runs/cuda/cuda.json
    python benchmarks/cuda.py pairs --only rms_norm
    python benchmarks/cuda.py gallery known
    python benchmarks/cuda.py equal --races 50       the reference against itself: is it ever called faster?
    python benchmarks/cuda.py kernelbench --only 1/19

`--jobs 8` judges so many candidates at once: they are built and verified side by side, and raced one after the other.

`pairs` are the problems in cuda_pairs/, each with a candidate in CUDA and one in Triton.  `known` are programs that do
an exact multiple of another's work.  `gallery` is tests/evaluate/gallery_cuda.  `kernelbench` admits ten problems of
$MAXCODE_KERNELBENCH and races each reference against itself.  The card's clocks are not fixed, so reference and
candidate take turns and only their ratio is reported.  Exit status 1 if a verdict is not the demanded one, 2 without a
GPU.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio

from maxcode.core.types import Action, Evaluation, Problem, State, Step
from maxcode.errors import MaxcodeError
from maxcode.evaluate.harness import open_modules
from maxcode.evaluate.ladder.prepare import identity
from maxcode.evaluate.machine.machine import describe
from maxcode.evaluate.module.evaluator import ModuleEvaluator
from maxcode.evaluate.module.gpu import find_gpu
from maxcode.problems import load
from maxcode.sandbox.sandbox import Sandbox

HERE = Path(__file__).parent
PAIRS = HERE / "cuda_pairs"
KNOWN = (HERE / "cuda_known" / "reference.py").read_text()
GALLERY = HERE.parent / "tests" / "evaluate" / "gallery_cuda"
UNITS = (2, 3, 5)
ON_CUDA = {"module": {"device": "cuda"}}
USUAL = ("pairs", "known", "gallery")
TEN = ("1/1", "1/19", "1/23", "1/26", "1/36", "2/9", "2/14", "2/33", "2/59", "2/63")
Row = dict[str, Any]
Measure = Callable[[ModuleEvaluator], Any]


def main() -> int:
    options = arguments()
    try:
        return anyio.run(measured, options)
    except MaxcodeError as error:
        print(f"cuda.py: {error}", file=sys.stderr)
        return error.exit_code


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="|".join(PARTS), help=f"default: {' '.join(USUAL)}")
    parser.add_argument("--races", type=int, default=50, help="of `equal`")
    parser.add_argument("--only", nargs="+", default=(), help="names of problems or candidates")
    parser.add_argument("--jobs", type=int, default=1, help="candidates at once")
    parser.add_argument("--out", type=Path, default=Path("runs/cuda"))
    options = parser.parse_args()
    options.what = options.what or list(USUAL)
    if unknown := sorted(set(options.what) - PARTS.keys()):
        parser.error(f"{unknown[0]} is none of {', '.join(PARTS)}")
    return options


async def measured(options: argparse.Namespace) -> int:
    sandbox = await Sandbox.open()
    found = await find_gpu(sandbox, load(GALLERY / "reference.py", overrides=ON_CUDA).problem)
    if isinstance(found, str):
        print(f"cuda.py: {found}; run it on a machine with a GPU that its torch sees", file=sys.stderr)
        return 2
    evaluator = await open_modules()
    print(found.told(), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    whole: Row = {"gpu": found.told(), "machine": asdict(describe(evaluator.sandbox))}
    for part in options.what:
        measures = equal(options.races) if part == "equal" else PARTS[part]()
        chosen = [(name, one) for name, one in measures if not options.only or name in options.only]
        rows = await in_turn(evaluator, chosen, options.jobs)
        shown(part, rows)
        whole[part] = rows
        (options.out / "cuda.json").write_text(json.dumps(whole, indent=1) + "\n")
    return int(any(row.get("held") is False for part in options.what for row in whole[part]))


async def in_turn(evaluator: ModuleEvaluator, chosen: Sequence[tuple[str, Measure]], jobs: int) -> list[Row]:
    """The rows in their order, ``jobs`` at once; each is told when it is there."""
    rows: list[Row] = [{} for _ in chosen]
    places = anyio.CapacityLimiter(jobs)

    async def run(number: int, name: str, one: Measure) -> None:
        async with places:
            began = anyio.current_time()
            try:
                found = await one(evaluator)
            except MaxcodeError as error:
                found = {"name": name, "outcome": "error", "why": str(error), "held": False}
            rows[number] = {**found, "seconds": anyio.current_time() - began}
        print(f"{name}: {found['outcome']} ({rows[number]['seconds']:.0f} s) {found['why'][:120]}", flush=True)

    async with anyio.create_task_group() as group:
        for number, (name, one) in enumerate(chosen):
            group.start_soon(run, number, name, one)
    return rows


# ------------------------------------------------------------------------------------------------- three parts


def pairs() -> Iterator[tuple[str, Measure]]:
    """Our problems, with the speed-up of each candidate over eager mode and over torch.compile."""
    for folder in sorted(PAIRS.iterdir()):
        for kind in ("native", "triton"):
            yield folder.name, _pair(folder, kind)


def _pair(folder: Path, kind: str) -> Measure:
    async def measure(evaluator: ModuleEvaluator) -> Row:
        problem = load(folder / "reference.py", overrides=ON_CUDA).problem
        found = await judged(evaluator, problem, (folder / f"{kind}.py").read_text())
        return {"problem": folder.name, "candidate": kind, **figures(found)}

    return measure


def known() -> Iterator[tuple[str, Measure]]:
    """References that do an exact multiple of the candidate's work."""
    for times in UNITS:
        yield f"x{times}", _known(times)


def _known(times: int) -> Measure:
    async def measure(evaluator: ModuleEvaluator) -> Row:
        problem = load(GALLERY / "reference.py", overrides=ON_CUDA).problem
        problem = replace(
            problem, program=problem.program.with_text(KNOWN.replace("TIMES = 8", f"TIMES = {8 * times}"))
        )
        text = KNOWN.replace("class Model", "class ModelNew")
        found = figures(await judged(evaluator, problem, text))
        error = found["speedup"] / times - 1 if found["speedup"] is not None else None
        held = error is not None and found["low"] <= times <= found["high"]
        return {"known": times, **found, "error": error, "inside": held}

    return measure


def gallery() -> Iterator[tuple[str, Measure]]:
    """Cheats and honest look-alikes, and whether each gets the verdict that its header demands."""
    for path in sorted(GALLERY.glob("*.py")):
        if path.stem != "reference":
            yield path.stem, _cheat(path)


def _cheat(path: Path) -> Measure:
    text = path.read_text()
    demanded = (re.search(r"^# VERDICT (.+)$", text, re.MULTILINE) or ["", ""])[1].split()

    async def measure(evaluator: ModuleEvaluator) -> Row:
        problem = load(GALLERY / "reference.py", overrides=ON_CUDA).problem
        found = await judged(evaluator, problem, text)
        faster = found.timing is not None and found.timing.significant
        held = found.outcome.value in demanded or ("not-faster" in demanded and not faster)
        return {"candidate": path.stem, "demanded": " ".join(demanded), **figures(found), "held": held}

    return measure


def equal(races: int = 50) -> Iterator[tuple[str, Measure]]:
    """The reference against itself.  One race in a hundred may call it faster."""
    for number in range(races):
        yield f"race {number}", _same(load(GALLERY / "reference.py", overrides=ON_CUDA).problem, f"race {number}")


def kernelbench() -> Iterator[tuple[str, Measure]]:
    """Ten problems of KernelBench, each against itself."""
    for name in TEN:
        yield name, _same(load(Path(f"kernelbench:{name}"), overrides=ON_CUDA).problem, name)


def _same(problem: Problem, name: str) -> Measure:
    text = problem.program.text.replace("class Model(", "class ModelNew(").replace("super(Model,", "super(ModelNew,")

    async def measure(evaluator: ModuleEvaluator) -> Row:
        found = figures(await judged(evaluator, problem, f"{text}\n# {name}\n"))
        return {"reference": name, **found, "held": found["outcome"] == "correct" and not found["confirmed"]}

    return measure


PARTS: dict[str, Callable[[], Iterator[tuple[str, Measure]]]] = {
    "pairs": pairs,
    "known": known,
    "gallery": gallery,
    "equal": equal,
    "kernelbench": kernelbench,
}


async def judged(evaluator: ModuleEvaluator, problem: Problem, text: str) -> Evaluation:
    """The result of a candidate: a race, and a confirmation if it is faster."""
    admitted = await known_as(evaluator, problem)
    action = Action(admitted.program.with_text(text))
    found = await evaluator.evaluate(admitted, action)
    if found.timing is None or not found.timing.significant:
        return found
    state = State(admitted, State(admitted), Step(action, found, 1.0), (1, 0))
    return (await evaluator.settle(admitted, [state], None))[state.id]


_admitting: dict[str, anyio.Lock] = {}
_admitted: dict[str, Problem] = {}


async def known_as(evaluator: ModuleEvaluator, problem: Problem) -> Problem:
    """The problem as it is admitted, once for all of its candidates."""
    key = identity(problem)
    async with _admitting.setdefault(key, anyio.Lock()):
        if key not in _admitted:
            _admitted[key] = (await evaluator.admit(problem)).problem
    return _admitted[key]


def figures(found: Evaluation) -> Row:
    timing = found.timing
    compiled = timing.over_compiled if timing is not None else None
    return {
        "outcome": found.outcome.value,
        "speedup": timing.speedup.value if timing is not None else None,
        "low": timing.speedup.low if timing is not None else None,
        "high": timing.speedup.high if timing is not None else None,
        "confirmed": timing is not None and timing.confirmed,
        "over_compiled": compiled.value if compiled is not None else None,
        "why": "; ".join((*found.feedback.reasons, *found.warnings))[:300],
        "remarks": [remark.text for remark in found.remarks],
    }


def shown(part: str, rows: list[Row]) -> None:
    """A table of the plain columns."""
    whole = [row for row in rows if row["outcome"] != "error"]
    columns = [key for key in (whole[0] if whole else {}) if key not in ("remarks", "why")]
    cells = [[_cell(row[key]) for key in columns] for row in whole]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    print(f"\n{part}")
    for line in (columns, *cells):
        print("  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip(), flush=True)


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
