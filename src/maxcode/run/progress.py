"""The progress of a search on stderr: a live line on a terminal, else plain lines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType

from maxcode.core.budget import MANY
from maxcode.core.types import Evaluation, Interval, Usage
from maxcode.core.wording import number_of
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.run.display import Display
from maxcode.run.record import Batch, Evaluated, Line, Opened, Settled
from maxcode.run.waits import waits_on


class SearchProgress:
    """Shows candidates by outcome, the best so far with its interval, the used budget and the cost of proposals."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._outcomes: Counter[str] = Counter()
        self._paid: Callable[[], Usage] = Usage
        self._best: Interval | None = None
        self._leader: Interval | None = None
        self._earlier: set[Interval | None] = set()  # the best of a run that goes on, when this command began
        self._started = time.monotonic()
        self._told = ""
        self._display = Display()

    def __enter__(self) -> SearchProgress:
        self._waits = waits_on(self._display)
        self._display.__enter__()
        self._waits.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._waits.__exit__(kind, error, at)
        self._display.__exit__(kind, error, at)

    def admitted(self, found: Admitted) -> None:
        """Shows that the original was built, verified and profiled."""
        slowest = max((given.seconds for given in found.inputs), default=0.0)
        many = number_of(len(found.inputs), "benchmark" if found.problem.traits.is_patch else "test")
        self._display.say(f"admitted: {many}, the slowest takes {slowest * 1e3:.0f} ms of CPU")
        for note in found.notes if found.timed else found.notes[:-1]:  # the last, "not measurable", is in the result
            self._display.note(f"note: {note}")

    def spending(self, spent: Callable[[], Usage]) -> None:
        """Takes the function that gives the cost of all model calls so far."""
        self._paid = spent

    def watch(self, line: Line) -> None:
        """Receives one recorded part.  Those that have their time were recorded by an earlier command, and come first;
        what they say together is shown when the run goes on."""
        match line:
            case Evaluated():
                self._outcomes[line.evaluation.outcome.value] += 1
                self._note(line.evaluation)
            case Settled():
                for evaluation in line.evaluations.values():
                    self._note(evaluation)
            case Batch():
                pass
            case Opened() if not line.t:
                self._earlier = {self._best, self._leader}
            case _:
                return
        if line.t:
            return
        told = self._line()
        if isinstance(line, Opened):
            self._display.note(f"going on after {told}")
        elif told != self._told or self._display.is_live:
            self._display.say(f"{told}, {time.monotonic() - self._started:.0f} s")
        self._told = told

    def say(self, words: str) -> None:
        """Shows the activity after the last candidate."""
        self._display.say(words)

    def _note(self, evaluation: Evaluation) -> None:
        timing = evaluation.timing
        if timing is None or not timing.significant:
            return
        if timing.confirmed and (self._best is None or timing.speedup.low > self._best.low):
            self._best = timing.speedup
        if self._leader is None or timing.speedup.value > self._leader.value:
            self._leader = timing.speedup

    def _line(self) -> str:
        done = sum(self._outcomes.values())
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self._outcomes.items()))
        found = self._best or self._leader
        notes = ["to be confirmed"] * (self._best is None) + ["found earlier"] * (found in self._earlier)
        noted = f" ({', '.join(notes)})" if notes else ""
        best = f"best {found}{noted}" if found else "nothing faster yet"
        of_all = f"/{self._budget}" if self._budget < MANY else ""
        return f"{done}{of_all} candidates ({counts or 'none yet'}), {best}{self._spent()}"

    def _spent(self) -> str:
        """The cost of all model calls so far, those of the critic and of earlier lives of the run included."""
        paid = self._paid()
        if not paid.calls:
            return ""
        money = f", ${paid.dollars:.2f}" if paid.dollars else ""
        return f", {paid.calls} calls, {paid.tokens} tokens{money}"
