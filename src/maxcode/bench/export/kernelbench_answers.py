"""Run folders as the files of KernelBench (commit 423217d), so that its own analysis script reads them.

    OUT/runs/NAME_levelL/eval_results.json          {"19": [{sample_id, compiled, correctness, metadata, runtime, ...}]}
    OUT/runs/NAME_levelL/level_L_problem_19_sample_0_kernel.py
    OUT/results/timing/HARDWARE/baseline_time_torch.json                             {"level1": {"19_ReLU.py": {...}}}
    OUT/results/timing/HARDWARE/baseline_time_torch_compile_inductor_default.json

One run is one sample; several runs of one problem are numbered in the given order.  The analysis computes the score
over the problems in the baseline file, so all problems of a level are in it: with a mean of null if nothing was timed,
which the analysis never divides by.  The file of torch.compile cannot name all: a correct answer that was not compared
with torch.compile is left out of it, and counted in the returned value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from maxcode.bench.export.answers import ExportedAnswer, read_answer
from maxcode.bench.export.score import Score, fast_p, geometric_mean
from maxcode.core.types import Outcome
from maxcode.errors import InputError
from maxcode.problems.kernelbench import VARIABLE, files

PS = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0)
EAGER, COMPILED = "baseline_time_torch", "baseline_time_torch_compile_inductor_default"


@final
@dataclass(frozen=True, slots=True)
class Exported:
    """The exported files of one level.

    ``scores``        p -> fast_p over all ``problems`` of the level, against eager, of the first sample of each, by
                      means
    ``confirmed``     the number of these samples that were confirmed to be faster on fresh pairs
    ``not_compared``  correct answers without a figure against torch.compile
    """

    level: int
    problems: int
    tried: int
    correct: int
    confirmed: int
    scores: dict[float, float]
    geometric_mean: float | None
    not_compared: int
    eval_results: Path
    baseline: Path
    analysis: str


def export_kernelbench(runs: Sequence[Path], out: Path, name: str = "maxcode") -> list[Exported]:
    """Writes the files for ``runs``; returns one entry for each level, in order.

    Raises InputError for a folder that is not a run of a problem of KernelBench; for runs of one problem with different
    shapes, text or machine; and if the suite, which names all problems of a level, is missing or of another version.
    """
    answers = [read_answer(run) for run in runs]
    _comparable(answers)
    hardware = re.sub(r"\W+", "_", answers[0].hardware) if answers else ""
    timing = out / "results" / "timing" / hardware
    levels = sorted({one.level for one in answers})
    by_level = {level: _by_problem([one for one in answers if one.level == level]) for level in levels}
    known = {level: files(level) for level in levels}
    for one in answers:
        if known[one.level].get(one.id) != one.file:
            raise InputError(
                f"{one.run} is about {one.file}, which is not problem {one.id} of level {one.level} in the KernelBench "
                f"that is here; set {VARIABLE} to the version that it was run with"
            )
    eager = {f"level{level}": _baseline(by_level[level], known[level], "eager") for level in levels}
    compiled = {f"level{level}": _baseline(by_level[level], known[level], "compiled") for level in levels}
    _write(timing / f"{EAGER}.json", eager)
    _write(timing / f"{COMPILED}.json", compiled)
    return [
        _level(level, by_level[level], known[level], eager[f"level{level}"], (out, name, hardware)) for level in levels
    ]


def _by_problem(answers: Sequence[ExportedAnswer]) -> dict[int, list[ExportedAnswer]]:
    found: dict[int, list[ExportedAnswer]] = {}
    for one in answers:
        found.setdefault(one.id, []).append(one)
    return dict(sorted(found.items()))


def _comparable(answers: Sequence[ExportedAnswer]) -> None:
    """Checks that runs of one problem have the same text, shapes and machine: they share one baseline."""
    first: dict[tuple[int, int], ExportedAnswer] = {}
    for one in answers:
        other = first.setdefault((one.level, one.id), one)
        for key in ("problem_sha256", "constants"):
            if one.about[key] != other.about[key]:
                raise InputError(f"{one.run} and {other.run} differ in {key}; export them apart, with another --out")
        if one.hardware != answers[0].hardware:
            raise InputError(f"{one.run} was made on {one.hardware}, {answers[0].run} on {answers[0].hardware}; export "
                             "them apart, with another --out")  # fmt: skip


def _baseline(answers: dict[int, list[ExportedAnswer]], known: dict[int, str], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, file in known.items():
        mine = answers.get(number, [])
        times = [one.eager if kind == "eager" else one.compiled for one in mine]
        timed = next((one for one in times if one is not None), None)
        if timed is not None or not any(one.evaluation.outcome is Outcome.CORRECT for one in mine):
            found[file] = timed or {"mean": None, "num_trials": 0}
    return found


def _level(
    level: int,
    answers: dict[int, list[ExportedAnswer]],
    known: dict[int, str],
    eager: dict[str, Any],
    where: tuple[Path, str, str],
) -> Exported:
    out, name, hardware = where
    folder = out / "runs" / f"{name}_level{level}"
    results = {}
    for number, mine in answers.items():
        baseline = eager.get(known[number], {}).get("mean")
        results[str(number)] = [one.result(sample, baseline) for sample, one in enumerate(mine)]
        for sample, one in enumerate(mine):
            _write_text(folder / f"level_{level}_problem_{number}_sample_{sample}_kernel.py", one.text)
    _write(folder / "eval_results.json", results)
    firsts = [mine[0] for mine in answers.values()]
    scores = [_score(results[str(one.id)][0], eager.get(known[one.id], {}).get("mean")) for one in firsts]
    return Exported(
        level,
        len(known),
        len(answers),
        sum(one.correct for one in scores),
        sum(one.confirmed for one in firsts),
        {p: fast_p(scores, p, len(known)) for p in PS},
        geometric_mean(scores),
        sum(one.score.correct and one.compiled is None for one in firsts),
        folder / "eval_results.json",
        out / "results" / "timing" / hardware / f"{EAGER}.json",
        f"python scripts/benchmark_eval_analysis.py run_name={name}_level{level} level={level} hardware={hardware} "
        f"baseline={EAGER} eval_results_dir={(out / 'runs').resolve()} "
        f"baseline_file={(out / 'results' / 'timing' / hardware / EAGER).resolve()}.json",
    )


def _score(result: dict[str, Any], baseline: float | None) -> Score:
    timed = baseline is not None and result["runtime"] > 0
    return Score(result["correctness"], baseline / result["runtime"] if timed and baseline is not None else None)


def _write(path: Path, found: object) -> None:
    _write_text(path, json.dumps(found, indent=1) + "\n")


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; choose another --out") from error
