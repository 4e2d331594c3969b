"""Doubts about a speed-up: the failed checks.  Made here alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import final

from maxcode.core.types import Evaluation, Recheck, Timing
from maxcode.evaluate.inputs.fresh import AT_JUMPS, GIVEN_ONLY
from maxcode.evaluate.ladder.judge import ELSEWHERE
from maxcode.evaluate.ladder.sanitize import FINDING
from maxcode.evaluate.module.staging import LOST, SHARED
from maxcode.evaluate.program.plausibility import VETO
from maxcode.evaluate.repo.candidates import DOUBTFUL
from maxcode.evaluate.rounds.stages import without_work
from maxcode.run.certificate.unseen import FreshInputTiming, doubted, slower_where_new
from maxcode.sandbox.tiers import NO_SANDBOX

UNEVEN = 1.25  # the median of the ratios over the ratio of the sums, at most
_FOUND = (
    FINDING,
    GIVEN_ONLY,
    AT_JUMPS,
    SHARED,
    LOST,
    ELSEWHERE,
    DOUBTFUL,
    VETO,
)  # how the warnings begin that are doubts


def without_sandbox(sandbox: str) -> Iterator[str]:
    """The doubt about a measurement that no sandbox protected; ``sandbox``: the tier as text."""
    if sandbox.startswith(NO_SANDBOX):
        yield "it was made without a sandbox, where a program can do all that its user can"


def unchecked(recheck: Recheck | None, fresh: FreshInputTiming | None) -> Iterator[str]:
    """The doubt about a suspicious program that could not be verified, or not be timed, on other inputs."""
    if recheck is None:
        return
    done, why = "verified", recheck.why
    if recheck.inputs:
        done, why = "timed", fresh.why if fresh is not None and fresh.is_missing else ""
    if why:
        yield f"{'; '.join(recheck.triggers)}, but it was not {done} on other inputs: {why}"


def degenerate(reasons: Iterable[str]) -> Iterator[str]:
    """One doubt for every reason why a program could pass without doing the work."""
    for why in reasons:
        yield f"the reference is {without_work(why)}"


def uneven(timing: Timing | None) -> Iterator[str]:
    """The doubt about a gain that the median of the pairs shows, and the sum of their seconds does not: some runs are
    far slower than most.  The slowest run of the candidate is left out, which a busy machine can explain."""
    if timing is None or not timing.significant or len(timing.samples) < 2:
        return
    kept = sorted(timing.samples, key=itemgetter(1))[:-1]
    by_sum = sum(original for original, _ in kept) / sum(candidate for _, candidate in kept)
    if timing.speedup.value > UNEVEN * by_sum or by_sum <= 1:
        yield (
            f"it is {timing.speedup.value:.2f}x in the median of its pairs, but {by_sum:.2f}x by the sum of their "
            "seconds: some of its runs are far slower than most"
        )


def is_told(note: str, doubts: Iterable[str]) -> bool:
    """Whether a note says no more than one of the doubts."""
    return any(note.endswith(doubt) or doubt.endswith(note) for doubt in doubts)


@final
@dataclass(frozen=True, slots=True)
class Grounds:
    """What a confirmed speed-up rests on.

    ``sandbox``: the tier as text.
    ``recheck``: None if nothing triggered one.
    ``fresh``: on newly generated inputs; None if that is not known yet.
    ``findings``: sentences of the sanitizers, and on inputs beyond all given ones.
    ``control``: what is wrong with the original timed against itself; only a certificate does that.
    ``is_old``: a certificate of an earlier format, where the sum of the seconds was not compared with the median, and
    to be slower on new inputs was no doubt.
    """

    sandbox: str
    timing: Timing | None
    recheck: Recheck | None
    fresh: FreshInputTiming | None
    findings: tuple[str, ...] = ()
    control: str = ""
    is_old: bool = False

    def doubts(self) -> Iterator[str]:
        """One sentence for each failed check."""
        yield from without_sandbox(self.sandbox)
        yield from [self.control] if self.control else ()
        if not self.is_old:
            yield from uneven(self.timing)
            yield from slower_where_new(self.timing, self.fresh)
        yield from doubted(self.timing, self.fresh)
        yield from [self.fresh.doubt] if self.fresh is not None and self.fresh.doubt else ()
        yield from degenerate(self.timing.degenerate if self.timing is not None else ())
        yield from unchecked(self.recheck, self.fresh)
        yield from self.findings


def findings_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Its warnings that are doubts."""
    return tuple(words for words in evaluation.warnings if words.startswith(_FOUND))


def united(certified: tuple[str, ...], measured: tuple[str, ...]) -> tuple[str, ...]:
    """The doubts of a certificate, and what the run itself found and the certificate did not."""
    more = [one for one in _FOUND if not any(words.startswith(one) for words in certified)]
    return (*certified, *(words for words in measured if words.startswith(tuple(more))))


def doubts_about(evaluation: Evaluation, sandbox: str, fresh: FreshInputTiming | None) -> tuple[str, ...]:
    """The doubts about an evaluation that no certificate is made of; those about a confirmed speed-up only if it is
    one."""
    timing = evaluation.timing
    if timing is None or not (timing.confirmed and timing.significant):
        return tuple(degenerate(timing.degenerate)) if timing is not None else ()
    return tuple(Grounds(sandbox, timing, evaluation.harsher, fresh, findings_of(evaluation)).doubts())
