"""A round: one or more calls by every side, on the same fresh inputs; and a session, which is a race of rounds."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal, final

from maxcode.core.types import CaseResult, Clock, Evaluation, Feedback, Outcome, Timing
from maxcode.errors import InputError, MaxcodeError
from maxcode.evaluate.ladder.race import End, Pair, RaceResult, Side
from maxcode.evaluate.ladder.timing import warnings_of
from maxcode.sandbox.jobs import TAMPERED
from maxcode.sandbox.sandbox import Calls, Ran

CALL = "calls"  # the one input of such a problem
VERIFY_ROUNDS = 3
SIDE = (Path(__file__).parent / "inside" / "side.py").read_text()  # what the drivers share
# before a race, before it and half as many after it, or after one that does not end as "faster"
Beyond = Literal["never", "first", "around", "unless faster"]
WRONG_OUTPUT, BUILD_FAILED = 97, 98  # their exit statuses
LATE_TIMES, LATE_S = 2.0, 0.1  # import and __init__ may take so many times the original's, and so much more
HIDDEN, LEAST_HIDDEN_S = "it works where it is not timed", 0.02  # how the warning begins


class RoundFailed(Exception):
    """A side failed in a round, or its output was wrong.

    ``ran``: how it ended, if it ended; ``cheats``: its clocks show that it hides work.
    """

    def __init__(self, side: Side, why: str, ran: Ran | None = None, cheats: bool = False) -> None:
        super().__init__(why)
        self.side = side
        self.ran = ran
        self.cheats = cheats
        self.official: bool | None = None  # of a module, what KernelBench's rule says of it


@contextmanager
def read_of(name: Side) -> Iterator[None]:
    """While what a side gave is read: ``RoundFailed`` whatever goes wrong there."""
    try:
        yield
    except (RoundFailed, MaxcodeError):
        raise
    except Exception as error:
        raise RoundFailed(name, f"what it gave cannot be read: {type(error).__name__}: {error}") from error


@final
@dataclass(frozen=True, slots=True)
class Sitting:
    """A race in one session, and what was seen beside it.

    ``start_s``: of the original and the candidate (``types.Timing``).
    ``beyond``: calls on values beyond those drawn that were compared, and that were skipped.
    ``official``: what KernelBench's own rule says of the candidate.
    """

    held: RaceResult
    warnings: tuple[str, ...]
    start_s: tuple[float, float]
    beyond: tuple[int, int] | None = None
    official: bool | None = None

    def told(self, timing: Timing, degenerate: tuple[str, ...]) -> Timing:
        """The timing with all of it."""
        return replace(timing, start_s=self.start_s, beyond=self.beyond, degenerate=degenerate)


def seen_in(sittings: Sequence[Sitting]) -> tuple[str, ...]:
    """What was seen in any of them; once where only its numbers differ."""
    found: dict[str, str] = {}
    for words in (words for one in sittings for words in one.warnings):
        found.setdefault(re.sub(r"[\d.]+", "", words), words)
    return tuple(found.values())


def mean_of(rounds: Sequence[Pair]) -> Pair:
    """For each side the mean of several rounds, by both clocks: if one of them did not count, a side that lives through
    all of them could put work there that the others need."""
    sides = rounds[0].seconds
    return Pair(
        {name: {CALL: fmean(one.total(name) for one in rounds)} for name in sides},
        {name: fmean(one.elapsed[name] for one in rounds) for name in sides},
    )


def pair_of(found: Mapping[Side, Ran], clock: Clock) -> Pair:
    """The pair of a round."""
    return Pair(
        {name: {CALL: ran.cpu_s if clock == "cpu" else ran.wall_s} for name, ran in found.items()},
        {name: ran.wall_s for name, ran in found.items()},
    )


def after(pairs: int) -> End:
    """Ends a race after so many pairs, as a tie; for races that only measure."""
    return lambda seen: "tie" if len(seen) >= pairs else None


@final
@dataclass(slots=True)
class RoundSeconds:
    """Seconds of the rounds of a side: those before its race, as the race has them too, and those of the race."""

    untimed: list[float] = field(default_factory=list)
    timed: list[float] = field(default_factory=list)

    def first_s(self) -> float:
        """What the first round takes beyond the least of the later ones."""
        first, *later = [*self.untimed, *self.timed]
        return max(0.0, first - min(later)) if later else 0.0

    def usual_s(self) -> float:
        """The median of the race."""
        return median(self.timed)

    def hidden_s(self) -> float:
        """What the rounds between the first one and the race take beyond the usual."""
        return sum(max(0.0, one - self.usual_s()) for one in self.untimed[1:])


def hidden(original: RoundSeconds, candidate: RoundSeconds) -> tuple[str, ...]:
    """A warning where a candidate works much more in untimed rounds than in timed ones, other than in its first round.
    It is no doubt, because a compiler may work there too: the values of a later round can be the first of a type."""
    most = LATE_TIMES * original.hidden_s() + max(candidate.usual_s(), LEAST_HIDDEN_S)
    if candidate.hidden_s() <= most:
        return ()
    return (
        f"{HIDDEN}: untimed calls after the first ones take {candidate.hidden_s():.2f} s more than timed ones, "
        f"{original.hidden_s():.2f} s for the original",
    )


def late(start_s: tuple[float, float], what: str) -> tuple[str, ...]:
    """A warning where a candidate does ``what`` in much more time than the original."""
    original, candidate = start_s
    if candidate <= LATE_TIMES * original + LATE_S:
        return ()
    return (f"{what} take {candidate:.2f} s, {original:.2f} s for the original: what they do is not in the speed-up",)


def last_words(ran: Ran) -> str:
    """The last line of its stderr, or how it ended."""
    lines = [line for line in ran.stderr.decode(errors="replace").splitlines() if line.strip()]
    how = {"timeout": "stopped: it ran out of time (--run-limit)", "tampered": TAMPERED}.get(ran.ending)
    return how or (lines[-1].strip()[:500] if lines else f"{ran.ending} {ran.code}")


def answered(name: Side, ran: Ran) -> Ran:
    """A side's round; RoundFailed where it ended, or used no time."""
    if ran.ending != "answered":
        raise RoundFailed(name, last_words(ran), ran)
    if min(ran.cpu_s, ran.wall_s) <= 0:
        raise RoundFailed(name, "its calls used no time")
    return ran


@final
@dataclass(frozen=True, slots=True)
class Started:
    """Processes that are ready to be called.

    ``ready``: for each side how it got ready; ``begun_s``: in how many seconds.
    """

    maker: Calls
    sides: Mapping[Side, Calls]
    ready: Mapping[Side, Ran]
    begun_s: Mapping[Side, float]


@asynccontextmanager
async def started(
    maker: AbstractAsyncContextManager[Calls],
    sides: Mapping[Side, AbstractAsyncContextManager[Calls]],
    clock: Clock,
    what: str,
) -> AsyncIterator[Started]:
    """The maker and all sides, each in its own sandbox, started in parallel and ready.

    ``RoundFailed`` if a side does not get ready; InputError if the maker does not, which is ``what``.
    """
    async with AsyncExitStack() as stack:
        making = await stack.enter_async_context(maker)
        calls = {name: await stack.enter_async_context(one) for name, one in sides.items()}
        ready = await making.ready()
        if ready.ending != "answered":
            raise InputError(f"{what} does not run: {last_words(ready)}")
        found: dict[Side, Ran] = {}
        for name, one in calls.items():
            found[name] = await one.ready()
            if found[name].ending != "answered":
                raise RoundFailed(name, last_words(found[name]), found[name])
        begun_s = {name: ran.cpu_s if clock == "cpu" else ran.wall_s for name, ran in found.items()}
        yield Started(making, calls, found, begun_s)


def failed_in(failed: RoundFailed) -> Evaluation:
    """The evaluation of a failed candidate.  InputError if the original failed."""
    if failed.side in ("original", "control"):
        raise InputError(f"the original failed while being called: {failed}")
    ran, outcome = failed.ran, _outcome(failed)
    words = ran.stderr.decode(errors="replace")[-8000:] if ran is not None else ""
    seconds = ran.cpu_s if ran is not None else 0.0
    case = CaseResult(CALL, outcome, seconds, seen=True, detail=str(failed), kernelbench=failed.official)
    return Evaluation(outcome, Feedback((str(failed),), words if outcome is Outcome.UNBUILT else "", (case,)))


def _outcome(failed: RoundFailed) -> Outcome:
    ran = failed.ran
    if failed.cheats:
        return Outcome.REJECTED
    if ran is None or ran.ending == "tampered" or (ran.ending, ran.code) == ("exit", WRONG_OUTPUT):
        return Outcome.WRONG
    if ran.ending == "timeout":
        return Outcome.TIMEOUT
    return Outcome.UNBUILT if (ran.ending, ran.code) == ("exit", BUILD_FAILED) else Outcome.CRASHED


def seconds_of(timing: Timing, calls: int) -> float:
    """The least seconds of one of so many calls of the candidate."""
    return min((candidate for _, candidate in timing.samples), default=0.0) / calls


def found_right(seconds: float, timing: Timing, warnings: tuple[str, ...], official: bool | None = None) -> Evaluation:
    """The evaluation of a candidate whose every output was right; ``seconds``: of one call, as the baseline's."""
    case = CaseResult(CALL, Outcome.CORRECT, seconds, seen=True, kernelbench=official)
    notes = (*warnings, *warnings_of(timing))
    return Evaluation(Outcome.CORRECT, Feedback(cases=(case,)), timing, measures={CALL: seconds}, warnings=notes)
