"""Reads a run folder as one of KernelBench's samples: its answer, times, and outcome.

The answer is the confirmed winner; without one, the correct candidate with the best speed-up measured in the search;
without a correct one, the candidate that came furthest.  Times are milliseconds of one pass over the calls of a round,
for answer and reference alike, so that only their ratio is meaningful.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from maxcode.bench.export.score import Score
from maxcode.core.types import Action, Evaluation, Outcome, StateId, Timing
from maxcode.errors import InputError
from maxcode.run.record import EVENTS, Evaluated, Proposed, Settled, read_events, read_header

MS = 1e3


@final
@dataclass(frozen=True, slots=True)
class ExportedAnswer:
    """A run's answer.  ``text`` is empty if nothing was proposed; ``about`` is the sample's metadata."""

    run: Path
    level: int
    id: int
    file: str
    device: str
    hardware: str
    text: str
    evaluation: Evaluation
    about: dict[str, Any]

    @property
    def timing(self) -> Timing | None:
        found = self.evaluation.timing
        return found if found is not None and found.samples else None

    @property
    def confirmed(self) -> bool:
        """Whether it was confirmed to be faster."""
        return _confirmed(self.evaluation)

    @property
    def score(self) -> Score:
        timing = self.timing
        return Score(self.evaluation.outcome is Outcome.CORRECT, None if timing is None else _ratio(timing))

    def result(self, sample: int, baseline: float | None) -> dict[str, Any]:
        """The entry of eval_results.json.  ``baseline``: the mean of the baseline file in ms; the runtime is scaled to
        it, so that their ratio is the measured speed-up."""
        timing = self.timing
        found: dict[str, Any] = {
            "sample_id": sample,
            "compiled": self.evaluation.outcome not in _NOT_BUILT,
            "correctness": self.evaluation.outcome is Outcome.CORRECT,
            "metadata": self.about,
            "runtime": -1.0,
            "runtime_stats": {},
        }
        if timing is None or baseline is None:
            return found
        own = statistics.fmean(original for original, _ in timing.samples) * MS
        scaled = [candidate * MS * baseline / own for _, candidate in timing.samples]
        stats = self._stats(scaled)
        return {**found, "runtime": stats["mean"], "runtime_stats": stats}

    @property
    def eager(self) -> dict[str, Any] | None:
        """The entry of the baseline file for eager mode."""
        timing = self.timing
        return None if timing is None else self._stats([original * MS for original, _ in timing.samples])

    @property
    def compiled(self) -> dict[str, Any] | None:
        """The entry of the baseline file for torch.compile: the answer's time, times its speed-up over it."""
        timing = self.timing
        if timing is None or timing.over_compiled is None:
            return None
        return self._stats([candidate * MS * timing.over_compiled.value for _, candidate in timing.samples])

    def _stats(self, ms: Sequence[float]) -> dict[str, Any]:
        return {
            "mean": statistics.fmean(ms),
            "std": statistics.pstdev(ms),
            "min": min(ms),
            "max": max(ms),
            "num_trials": len(ms),
            "hardware": self.hardware,
            "device": self.device,
        }


_NOT_BUILT = frozenset({Outcome.UNPARSED, Outcome.REJECTED, Outcome.UNBUILT})
_LADDER = list(Outcome)


def _ratio(timing: Timing) -> float:
    """The ratio of the means, as in KernelBench; our own figure, with its interval, is in the metadata."""
    return statistics.fmean(one for one, _ in timing.samples) / statistics.fmean(one for _, one in timing.samples)


def read_answer(run: Path) -> ExportedAnswer:
    """The answer of a run folder; raises InputError if it is not a run of a problem of KernelBench."""
    header = read_header(run)
    if not header or not (run / EVENTS).is_file():
        raise InputError(f"{run} is no run folder; give what `maxcode optimize --out` wrote")
    suite = header.get("suite")
    if not isinstance(suite, dict) or suite.get("suite") != "kernelbench":
        raise InputError(
            f"{run} is a run of {header.get('source')}, which is not named as a problem of KernelBench; run it as "
            "`maxcode optimize kernelbench:LEVEL/ID`"
        )
    machine = header.get("machine", {})
    text, evaluation, words = _chosen(run)
    return ExportedAnswer(
        run,
        suite["level"],
        suite["id"],
        suite["file"],
        str(header.get("device", "cpu")),
        str(machine.get("cpu") or machine.get("node") or "unknown"),
        text,
        evaluation,
        _about(header, evaluation, words),
    )


def _chosen(run: Path) -> tuple[str, Evaluation, str]:
    """The answer's text and evaluation, and a description of its choice."""
    actions, evaluations = _candidates(run)
    best = max(evaluations, key=lambda at: _worth(evaluations[at]), default=None)
    if best is None:
        return "", Evaluation(Outcome.UNPARSED), "no candidate was evaluated"
    program, found = actions[best].program, evaluations[best]
    words = (
        "confirmed winner" if _confirmed(found) else "nothing was confirmed to be faster; the best of its candidates"
    )
    return program.text if program is not None else "", found, words


def _candidates(run: Path) -> tuple[dict[StateId, Action], dict[StateId, Evaluation]]:
    """The proposals and, in the order of evaluation, their evaluations after the referee."""
    actions: dict[StateId, Action] = {}
    evaluations: dict[StateId, Evaluation] = {}
    for line in read_events(run):
        match line:
            case Proposed():
                actions[line.at] = line.action
            case Evaluated():
                evaluations[line.at] = line.evaluation
            case Settled():
                evaluations |= {(line.batch, slot): one for slot, one in line.evaluations.items()}
                evaluations |= dict([line.champion]) if line.champion is not None else {}
    return actions, {at: one for at, one in evaluations.items() if at in actions}


def _worth(found: Evaluation) -> tuple[bool, int, float]:
    return _confirmed(found), _LADDER.index(found.outcome), 0.0 if found.timing is None else found.timing.speedup.low


def _confirmed(found: Evaluation) -> bool:
    return found.timing is not None and found.timing.confirmed and found.timing.significant


def _about(header: dict[str, Any], found: Evaluation, words: str) -> dict[str, Any]:
    """The metadata: the source of the figures, and how certain they are."""
    timing = found.timing
    speedup = {} if timing is None else {"speedup": dataclasses.asdict(timing.speedup), "clock": timing.clock}
    return {
        "hardware": str(header.get("machine", {}).get("cpu", "")),
        "device": str(header.get("device", "cpu")),
        "answer": words,
        "outcome": found.outcome.value,
        "reasons": list(found.feedback.reasons),
        **speedup,
        "confirmed": timing is not None and timing.confirmed,
        "constants": header.get("constants", {}),
        "problem_sha256": header["suite"]["sha256"],
        "maxcode": {key: header.get(key) for key in ("version", "policy", "method", "seed", "budget", "digest")},
        "warnings": list(found.warnings),
    }
