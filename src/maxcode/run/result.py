"""The answer of ``optimize`` about a run: typed values, lines of text, and the JSON contract (``result.json``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.printable import printable
from maxcode.core.types import Outcome, Program, Spent
from maxcode.evaluate.cluster import Report
from maxcode.run.candidate_result import CandidateResult, Speedup
from maxcode.run.certificate import FreshInputTiming, fields_of
from maxcode.run.result_html import page_of


@final
@dataclass(frozen=True, slots=True)
class Paid:
    """The cost of a run with its resumes: wall ``seconds`` of work, and all model calls, those of the critic too.
    ``dollars`` is None if a price is not known."""

    seconds: float
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dollars: float | None

    def __str__(self) -> str:
        money = "price unknown" if self.dollars is None else f"${self.dollars:.4g}"
        tokens = f"{self.prompt_tokens} + {self.completion_tokens} tokens"
        return f"{self.calls} model calls, {tokens}, {money}; {self.seconds:.0f} s"


@final
@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    ``measured``      the result of the best program; that of the original if nothing was confirmed to be faster
    ``candidates``    number of evaluated programs; ``outcomes`` counts them by outcome
    ``best``          file of the best program; that of the original if nothing was faster
    ``best_program``  the best program: file names and texts
    ``folder``        the run folder; ``report``: the HTML page in it
    ``spent``         seconds and model calls
    ``stopped``       whether Ctrl-C ended the run; ``ended``: the cap that ended it, or empty
    ``certificate``   file of the certificate; None if there is none
    ``fresh_inputs``  speed-up of the certified winner on newly generated inputs; None if not requested
    ``cluster``       figures of the slots of a cluster; None: this machine
    ``notes``         remarks on the run and its certificate
    """

    measured: CandidateResult
    candidates: int
    outcomes: Mapping[str, int]
    best: Path
    best_program: Program
    folder: Path
    report: Path
    spent: Paid
    stopped: bool = False
    ended: str = ""
    certificate: Path | None = None
    fresh_inputs: FreshInputTiming | None = None
    cluster: Report | None = None
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The outcome of the best program."""
        return self.measured.outcome

    @property
    def speedup(self) -> Speedup | None:
        """The speed-up of the best program; None if it could not be measured: ``why`` gives the reason."""
        return self.measured.speedup

    @property
    def why(self) -> str | None:
        """Why there is no proved speed-up; None if there is one."""
        return self.measured.why

    @property
    def confirmed(self) -> bool:
        """Whether a program was found that is also faster on fresh pairs."""
        return self.measured.speedup is not None and self.measured.speedup.confirmed

    def __str__(self) -> str:
        """The lines that the command line prints."""
        return printable("\n".join(self.lines()))

    def _repr_html_(self) -> str:
        files = {"report": self.report, "best program": self.best}
        return page_of(self.measured.headline(), str(self), files)

    def lines(self) -> Iterator[str]:
        """All lines of text."""
        yield from self.measured.lines()
        if self.fresh_inputs is not None:
            yield f"fresh      {self.fresh_inputs}"
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.outcomes.items()))
        yield f"candidates {self.candidates}: {counts}"
        yield f"best       {self.best}"
        yield f"report     {self.report}"
        yield from (f"{'' if at else 'slots':<10} {line}" for at, line in enumerate(_slots(self.cluster)))
        if self.certificate is not None:
            yield f"certified  {self.certificate}"
        if self.spent.calls:
            yield f"spent      {self.spent}"
        yield from (f"note       {note}" for note in self.notes if note not in (self.why or ""))

    def table(self) -> dict[str, Any]:
        """The fields of the JSON contract, without empty ones."""
        fresh = fields_of(self.fresh_inputs)
        more = {
            "stopped": self.stopped or None,
            "certificate": str(self.certificate) if self.certificate is not None else None,
            "unseen": fresh,
            "fresh_inputs": fresh,
            "ended": self.ended or None,
            "cluster": self.cluster.as_table() if self.cluster is not None else None,
        }
        return {
            **self.measured.table(),
            "notes": self.notes,
            "candidates": self.candidates,
            "outcomes": dict(self.outcomes),
            "best": str(self.best),
            "record": str(self.folder),
            "report": str(self.report),
            "spent": asdict(self.spent),
            **{key: value for key, value in more.items() if value is not None},
        }

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode(self.table()).decode()


def paid(spent: Spent) -> Paid:
    """The cost as a result reports it."""
    usage = spent.usage
    return Paid(round(spent.seconds, 1), usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.dollars)


def _slots(report: Report | None) -> Sequence[str]:
    """Lines on the slots of a cluster."""
    return [] if report is None else [*map(str, report.slots), *report.events]
