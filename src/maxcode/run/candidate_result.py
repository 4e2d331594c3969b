"""The answer of ``evaluate`` about one program: typed values, lines of text, and the fields of the JSON contract.

The keys of ``table`` are a contract with scripts: no key is renamed or removed; a new key is added to the old ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, final

import msgspec

from maxcode.core.printable import printable
from maxcode.core.types import Evaluation, Machine, Node, Outcome, Recheck, Remark, Trust
from maxcode.core.types.measured import RaceVerdict
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.run.certificate import FreshInputTiming, fields_of
from maxcode.run.certificate.doubts import doubts_about, is_told
from maxcode.run.certificate.unseen import is_apart
from maxcode.run.figures import OtherFigures, Speedup, figures_of, speedup_of
from maxcode.run.result_html import page_of


@final
@dataclass(frozen=True, slots=True)
class CandidateResult:
    """The result of one program.

    ``outcome``       how far it came; UNVERIFIED: it was compiled but never ran
    ``reasons``       why it came no further
    ``speedup``       None if it was not timed; ``why`` gives the reason, also if the speed-up is not significant
    ``tests``         number of tests by origin; ``inputs_timed`` of them were timed
    ``timed_on``      size and time of the original for each timed input, in words; empty if unknown
    ``notes``         remarks for the reader of the figures
    ``remarks``       registers, spills and shared memory of GPU kernels
    ``recheck``       the second verification, if the speed-up was high enough to trigger one
    ``kernelbench_correct``  the answer of KernelBench's own rule, for PyTorch modules; it decides nothing
    ``pie_correct``   the answer of PIE's own checker, for problems of PIE; it decides nothing
    ``node``          the benchmark node that measured it; None: this machine
    ``doubts``        the failed checks of a confirmed speed-up, one sentence each
    ``fresh_inputs``  the confirmed speed-up on newly generated inputs; None if no speed-up is confirmed
    ``trust``         of a repository: who judged that it is right
    ``is_of_candidate``  False: the original stands here, because nothing was won
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    speedup: Speedup | None
    why: str | None
    tests: Mapping[str, int]
    inputs_timed: int
    machine: Machine
    notes: tuple[str, ...] = ()
    figures: OtherFigures = field(default_factory=OtherFigures)
    remarks: tuple[Remark, ...] = ()
    recheck: Recheck | None = None
    pie_correct: bool | None = None
    kernelbench_correct: bool | None = None
    node: Node | None = None
    doubts: tuple[str, ...] = ()
    fresh_inputs: FreshInputTiming | None = None
    timed_on: tuple[str, ...] = ()
    trust: Trust | None = None
    is_of_candidate: bool = True

    @property
    def trusted(self) -> bool:
        """Whether it is confirmed to be faster, and no check failed."""
        return self.speedup is not None and self.speedup.confirmed and not self.doubts

    @property
    def confirmed(self) -> bool:
        """Whether it was timed again on fresh pairs; ``speedup.confirmed`` tells whether it is faster on them."""
        return self.speedup is not None and self.speedup.fresh_pairs

    def __str__(self) -> str:
        """The lines that the command line prints."""
        notes = (f"note       {note}" for note in self.notes if self.is_new(note))
        return printable("\n".join([*self.lines(), *notes]))

    def is_new(self, note: str) -> bool:
        """Whether the lines of the speed-up and of the doubts do not say it already."""
        return note not in (self.why or "") and not is_told(note, self.doubts)

    def _repr_html_(self) -> str:
        return page_of(self.headline(), str(self))

    def headline(self) -> str:
        """The outcome and the speed-up in a few words."""
        return f"{self.outcome.value}: {_told(self)}"

    def lines(self) -> Iterator[str]:
        """All but the notes."""
        whose = "" if self.is_of_candidate else " (the original: no candidate was confirmed to be faster)"
        yield f"outcome    {self.outcome.value}{whose}"
        yield from (f"           {reason}" for reason in self.reasons)
        is_count = self.speedup is not None and self.speedup.clock == "instructions"
        yield f"{'counted' if is_count else 'speed-up':<10} {_told(self)}"
        yield from (f"DOUBT      {doubt}" for doubt in self.doubts)
        if self.trust is not None:
            yield f"trust      {self.trust}"
        yield from self.figures.lines()
        yield from (f"remark     line {one.line}: {one.text}" for one in self.remarks)
        tests = ", ".join(f"{count} {_ORIGINS[kind]}" for kind, count in self.tests.items() if count)
        on = f" ({', '.join(self.timed_on)})" if self.timed_on else ""
        timed = f"{tests}; {len(self.timed_on) or self.inputs_timed} timed{on}"
        yield f"tests      {timed if tests else 'none was run'}"
        if self.pie_correct is not None:
            word = "correct" if self.pie_correct else "not correct"
            yield f"by PIE     {word} (PIE's own checker; it decides nothing)"
        if self.kernelbench_correct is not None:
            word = "correct" if self.kernelbench_correct else "not correct"
            yield f"by KBench  {word} (KernelBench's own rule; it decides nothing)"
        if self.node is not None:
            yield f"node       {self.node}"
        if self.recheck is not None:
            yield f"re-check   {self.recheck}"
        if self.fresh_inputs is not None:
            yield f"fresh      {self.fresh_inputs}"
        yield f"sandbox    {self.machine.sandbox}"

    def table(self) -> dict[str, Any]:
        """The fields of the JSON contract, without empty ones."""
        fresh = fields_of(self.fresh_inputs)
        more = {
            "unseen": fresh,
            "fresh_inputs": fresh,
            "remarks": [{"line": one.line, "kind": one.kind, "text": one.text} for one in self.remarks] or None,
            "harsher": _recheck_table(self.recheck),
            "recheck": _recheck_table(self.recheck),
            "timed_on": self.timed_on or None,
            "pie_correct": self.pie_correct,
            "kernelbench_correct": self.kernelbench_correct,
            "node": asdict(self.node) if self.node is not None else None,
            "trust": asdict(self.trust) if self.trust is not None else None,
        }
        return {
            "outcome": self.outcome.value,
            "reasons": self.reasons,
            "speedup": self.speedup.table() if self.speedup is not None else None,
            "why": self.why,
            "confirmed": self.confirmed,
            "trusted": self.trusted,
            "doubts": self.doubts,
            "tests": dict(self.tests),
            "inputs_timed": self.inputs_timed,
            "sandbox": self.machine.sandbox,
            "machine": asdict(self.machine),
            "notes": self.notes,
            **self.figures.table(),
            **{key: value for key, value in more.items() if value is not None},
        }

    def as_json(self) -> str:
        """One object."""
        return msgspec.json.encode(self.table()).decode()


_ORIGINS = {
    "seen": "seen",
    "held_out": "held-out",
    "generated": "generated",
    "made": "generated from these",
    "dropped": "dropped",
}


def result_of(
    evaluation: Evaluation,
    found: Admitted,
    machine: Machine,
    notes: Sequence[str],
    fresh: FreshInputTiming | None = None,
) -> CandidateResult:
    """Makes the result of one evaluation; ``fresh``: its speed-up on newly generated inputs, where it is confirmed."""
    timing = evaluation.timing
    is_faster = timing is not None and timing.significant
    doubts = doubts_about(evaluation, machine.sandbox, fresh)
    return CandidateResult(
        outcome=evaluation.outcome,
        reasons=evaluation.feedback.reasons,
        speedup=speedup_of(timing) if timing is not None else None,
        why=None if is_faster else _why(evaluation, found, doubts),
        tests=tests_of(found),
        inputs_timed=len(timing.inputs) if timing is not None else 0,
        machine=machine,
        notes=(*notes, *(one for one in evaluation.warnings if is_faster and one not in doubts)),
        figures=figures_of(timing) if timing is not None else OtherFigures(),
        remarks=evaluation.remarks if found.problem.traits.shows_operators else (),
        recheck=evaluation.harsher,
        pie_correct=evaluation.pie_correct,
        kernelbench_correct=evaluation.kernelbench_correct,
        node=evaluation.node,
        doubts=doubts,
        fresh_inputs=fresh if timing is not None and timing.confirmed and is_faster else None,
        timed_on=_timed_on(found, timing.inputs) if timing is not None else (),
        trust=evaluation.trust,
    )


def nothing_won(found: Admitted, machine: Machine, notes: Sequence[str], tried: bool = True) -> CandidateResult:
    """The result of a run without a confirmed gain: that of the original.  ``tried``: False: no candidate was
    measured."""
    why = "no candidate was confirmed to be faster than the original"
    why = why if tried else "the run ended before a candidate was measured; repeat the command with a larger budget"
    same = Speedup(1.0, 1.0, 1.0, 1.0, False, found.problem.goal, 0)
    result = result_of(found.baseline, found, machine, notes)
    timed_on = _timed_on(found, [one.name for one in found.timed])
    original = replace(result, speedup=same, why=why, timed_on=timed_on, is_of_candidate=False)
    return original if found.timed else result


def _timed_on(found: Admitted, names: Sequence[str]) -> tuple[str, ...]:
    """The timed inputs of these names by size, with the time of the original."""
    if not found.problem.traits.has_tests:
        return ()
    known = [one for one in found.inputs if one.name in names]
    return tuple(f"{one.stdin.size:,} bytes: {one.seconds * 1e3:.0f} ms" for one in known)


def tests_of(found: Admitted) -> dict[str, int]:
    """The number of tests by origin."""
    counts = {origin: found.count(origin) for origin in ("seen", "held_out", "generated")}
    if larger := found.count("made"):
        counts["made"] = larger
    return {**counts, "dropped": len(found.dropped)}


def _why(evaluation: Evaluation, found: Admitted, doubts: Sequence[str]) -> str:
    """Why there is no speed-up, or no proved one, without what the doubts say."""
    if evaluation.timing is None:
        is_note = not found.timed and evaluation.outcome in (Outcome.CORRECT, Outcome.UNVERIFIED)
        untimed = found.notes[-1:] if is_note else ()
        return "; ".join(evaluation.warnings or untimed) or f"not timed: {evaluation.outcome.value}"
    ended = _ENDED[evaluation.timing.verdict]
    warnings = [one for one in evaluation.warnings if not is_told(one, doubts)]
    if evaluation.timing.verdict == "slower":
        return "; ".join((ended, *warnings))
    return "; ".join(warnings) or ended


_ENDED: Mapping[RaceVerdict, str] = {  # why a race shows no proved gain
    "tie": "not significant: no difference was proved",
    "same_code": "not faster: it compiles to the same program as the original",
    "slower": "not faster: it is slower than the original",
    "dominated": "not significant: stopped early, because it is slower than the best candidate",
    "slower_by_wall": "not faster: less CPU time, but clearly more time by the wall clock",
    "noisy": "not significant: other programs used the cores too much for wall time to count",
    "more": "not faster: it executes more instructions than the original",
    "not_in_cpu_time": "not faster: fewer instructions, but CPU time shows no gain",
    "faster": "not confirmed",
    "fewer": "not confirmed",
}


def _recheck_table(found: Recheck | None) -> dict[str, Any] | None:
    return {**asdict(found), "result": found.result} if found is not None else None


def _told(result: CandidateResult) -> str:
    """The speed-up in words, or the reason why there is none."""
    found = result.speedup
    if found is None:
        return result.why or "not measured"
    if not found.pairs:
        return f"none: {result.why}"
    if found.clock == "instructions":
        return _counted(found, result)
    sure = "confirmed on fresh pairs" if found.confirmed else result.why or "not confirmed"
    doubtful = _doubtful(result, found)
    passed = f", {found.seconds[0]:.3g} s -> {found.seconds[1]:.3g} s" if found.seconds is not None else ""
    how = f"{found.confidence:.0%} interval, {found.pairs} pairs, {found.clock} time{passed}"
    return f"{found} {doubtful and f'{doubtful}; '}{how}; {sure}{_uncompared(result)}"


def _doubtful(result: CandidateResult, found: Speedup) -> str:
    """What makes the speed-up doubtful; empty if nothing does."""
    fresh = result.fresh_inputs
    differing = str(fresh) if fresh is not None and is_apart(found.interval, fresh.interval) else ""
    if result.doubts:
        return f"NOT TRUSTED: {differing or result.doubts[0]}"
    return f"but {differing}, which take less time" if differing else ""


def _uncompared(result: CandidateResult) -> str:
    missing = result.fresh_inputs is not None and result.fresh_inputs.is_missing
    return ", not compared on newly generated inputs" if missing else ""


def _counted(found: Speedup, result: CandidateResult) -> str:
    ratio = f"{found.value:.3f}x [{found.low:.3f}, {found.high:.3f}] (least to largest of {found.pairs} counts a side)"
    if not found.significant:
        return f"{ratio}: {result.why}"
    by_time = result.figures.seconds
    doubtful = _doubtful(result, by_time) if by_time is not None else ""
    return f"{ratio}, fewer instructions; {doubtful and f'{doubtful}; '}{_seconds(by_time)}{_uncompared(result)}"


def _seconds(by_time: Speedup | None) -> str:
    if by_time is None:
        return "not confirmed"
    sure = "confirmed" if by_time.significant else "not proved faster"
    return f"by CPU time {by_time}, {by_time.pairs} pairs, {sure}"
