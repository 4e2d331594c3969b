"""Races two versions: untimed runs that show that both work and that the change is used, then pairs until a verdict.

A pair is one run of base, one of head, and one more of base as a control, in random order; short runs are made two or
three times, and the fastest of each arm counts.  The control is judged like head: if base against itself differs, the
machine or the benchmark favours one arm, and no verdict is given.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Literal, final

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.benchmark_rows import check_format, rows_of
from maxcode.bench.versions.command_runs import CommandRun, CommandRunner, missing_counter, runner_of, shown_command
from maxcode.bench.versions.opened import opened
from maxcode.bench.versions.result import CHANGES, Exercise, RaceRow, VersionsRaced, measured_as
from maxcode.bench.versions.version_side import Name, VersionSide, changed_files, copied, dirt_of, sides_of
from maxcode.bench.versions.worktrees import Scratch, scratch
from maxcode.core.stats import geometric_mean
from maxcode.core.two_sided import TwoSidedRule, Word, interval_at_any_time, judge, judge_rows
from maxcode.core.types import Interval
from maxcode.errors import InputError
from maxcode.evaluate.machine.pressure import WALL_AT_MOST, watched
from maxcode.sandbox.lanes import timing_lane

Arm = Literal["base", "head", "control"]
ARMS: tuple[Arm, ...] = ("base", "head", "control")
WHOLE = "the whole process"
SHORT_S, VERY_SHORT_S = 0.15, 0.02  # a shorter run is made twice in a pair, or three times
TOO_SHORT_S = 0.02  # of which starting a process is a noticeable part
WAITING = 0.95  # below this ratio by the wall clock less CPU time is no gain
TURN_S = 10.0  # of the timing lane, which other races on the machine wait for
_TICK_S = 1e-6
_SAY_EVERY = 5
_MOST_TIMES = 100  # as many pairs: with more, a larger workload is the better advice

Say = Callable[[str], None]


async def race_versions(asked: RaceAsked, say: Say = lambda text: None) -> VersionsRaced:
    """The verdict on two versions.

    InputError for sides or commands that do not exist, fail, take too long or are the same; UnsafeError if there is no
    sandbox.  ``say`` gets lines of progress.
    """
    rule = asked.rule
    if asked.read:
        check_format(asked.read)
        if asked.goal == "instructions":
            raise InputError(
                f"--goal instructions counts the whole process, and --read {asked.read} takes what the benchmark says, "
                "which would run some fifty times slower; leave one of them out"
            )
    if asked.goal == "instructions" and (why := missing_counter()):
        raise InputError(why)
    with scratch() as place:
        sides = sides_of(asked, place)
        notes = [note for note in (dirt_of(sides),) if note]
        async with runner_of(asked) as runner:
            if asked.build:
                sides = {name: await _built(side, asked, runner, place, say) for name, side in sides.items()}
            return await _Race(asked, rule, sides, runner, say, notes).run()


async def _built(side: VersionSide, asked: RaceAsked, runner: CommandRunner, place: Scratch, say: Say) -> VersionSide:
    say(f"{side.name}: building")
    return await runner.build(copied(side, place) if asked.trusts_both else side, asked.build, place)


@final
@dataclass(slots=True)
class _Race:
    asked: RaceAsked
    rule: TwoSidedRule
    sides: Mapping[Name, VersionSide]
    runner: CommandRunner
    say: Say
    notes: list[str]
    order: random.Random = field(default_factory=random.SystemRandom)
    outputs: dict[Name, bytes] = field(default_factory=dict)
    spent_s: float = 0.0
    pairs: list[dict[Arm, dict[str, float]]] = field(default_factory=list)
    walls: list[dict[Arm, float]] = field(default_factory=list)

    async def run(self) -> VersionsRaced:
        changed = changed_files(self.sides["base"].folder, self.sides["head"].folder)
        self._refuse_equal(changed)
        if own := [name for name in changed if "bench" in name.lower() and PurePath(name).suffix]:
            self.notes.append(
                f"the benchmark itself differs ({', '.join(own[:3])}): if one side does more work, that is timed too; "
                "--build can copy one version of it into both"
            )
        exercise, first = await self._first_runs(changed)
        if exercise is not None and not exercise.is_shown and not exercise.why_not:
            return self._result("not exercised", exercise, None)
        if self.asked.same_output and not await self._same_outputs(first):
            return self._result("wrong", exercise, None)
        pressure = watched()
        await self._pairs(1 if self.asked.read else _passes(first))
        return self._judged(exercise, pressure())

    def _refuse_equal(self, changed: list[str]) -> None:
        base, head = self.sides["base"], self.sides["head"]
        if not changed and base.words == head.words and not self.asked.same_sides:
            raise InputError(
                f"{base.described()} and {head.described()} have the same files and the same command, so there is "
                "nothing to race; name another version, or give --same-sides to see the noise of this machine"
            )

    async def _first_runs(self, changed: list[str]) -> tuple[Exercise | None, dict[Name, CommandRun]]:
        """One untimed run of each side, in which the changed files are watched."""
        runs: dict[Name, CommandRun] = {}
        used: dict[Name, set[str]] = {}
        why_not = ""
        for name, side in self.sides.items():
            self.say(f"{name}: first run, not timed")
            with opened(side.folder, changed) as seen:
                runs[name] = await self._once(side)
            used[name], why_not = seen.paths, why_not or seen.why_not
            self.outputs[name] = runs[name].stdout
        shown = Exercise(len(changed), tuple(sorted(used["base"])), tuple(sorted(used["head"])), why_not)
        return (shown if changed else None), runs

    async def _once(self, side: VersionSide) -> CommandRun:
        ran = await self.runner.run(side, self.asked.run_s)
        if ran.trouble:
            raise InputError(self._failure(side, ran))
        if self.asked.goal == "instructions" and not ran.instructions:
            raise InputError(f"valgrind counted nothing in {shown_command(side)!r}; use --goal cpu")
        return ran

    def _failure(self, side: VersionSide, ran: CommandRun) -> str:
        if ran.trouble.startswith("took too long"):
            return (
                f"{side.name} {side.described()}: one run of {shown_command(side)!r} takes more than "
                f"{self.asked.run_s:.3g} s, and a verdict needs {3 * self.rule.least} runs within --max-seconds "
                f"{self.asked.seconds:g}; give a smaller workload, or more seconds"
            )
        is_unbuilt = not self.asked.build and "not found" in ran.trouble
        cure = "if it must be built first, give --build make; else " if is_unbuilt else ""
        cure += "make the command work on both sides"
        if not self.asked.trusts_both:
            cure += " (in the sandbox a side is read-only, TMPDIR is writable, only /usr is shown, and there is no "
            cure += "network: --show FOLDER, or --trust-both)"
        return f"{side.name} {side.described()} fails: {shown_command(side)!r} {ran.trouble}; {cure}"

    async def _same_outputs(self, first: Mapping[Name, CommandRun]) -> bool:
        again = await self._once(self.sides["base"])
        if again.stdout != first["base"].stdout:
            raise InputError(
                "base prints something else each time, so outputs cannot be compared; leave out --same-output"
            )
        return first["head"].stdout == first["base"].stdout

    async def _pairs(self, passes: int) -> None:
        """Pairs until the verdict, the most pairs, or the end of the time; waits for the timing lane do not count."""
        spent_s = 0.0
        while self._goes_on(spent_s):
            async with timing_lane():
                began = turn = time.monotonic()
                while self._goes_on(spent_s) and began - turn < TURN_S:
                    await self._pair(passes)
                    now = time.monotonic()
                    spent_s, began = spent_s + now - began, now
                    if len(self.pairs) % _SAY_EVERY == 0:
                        middle = statistics.median(self._overall("head"))
                        self.say(f"{len(self.pairs)} pairs, {spent_s:.0f} s: head {middle:.3f}x")
        self.spent_s = spent_s
        if len(self.pairs) < self.rule.most and not self._is_decided():
            self.notes.append(f"the time is over (--max-seconds {self.asked.seconds:g})")

    def _goes_on(self, spent_s: float) -> bool:
        """Whether another pair is needed, allowed, and likely to fit."""
        if len(self.pairs) >= self.rule.most or self._is_decided():
            return False
        return not self.pairs or spent_s * (1 + 1 / len(self.pairs)) <= self.asked.seconds

    async def _pair(self, passes: int) -> None:
        arms = list(ARMS) * passes
        self.order.shuffle(arms)
        rows: dict[Arm, dict[str, float]] = {}
        walls: dict[Arm, float] = {}
        for arm in arms:
            side = self.sides["head" if arm == "head" else "base"]
            ran = await self._once(side)
            self._check_output(side, ran)
            walls[arm] = min(ran.wall_s, walls.get(arm, ran.wall_s))
            found, earlier = self._rows(ran), rows.get(arm, {})
            rows[arm] = {name: min(value, earlier.get(name, value)) for name, value in found.items()}
        self.pairs.append(rows)
        self.walls.append(walls)

    def _check_output(self, side: VersionSide, ran: CommandRun) -> None:
        if self.asked.same_output and ran.stdout != self.outputs[side.name]:
            raise InputError(
                f"{side.name} {side.described()} prints something else in a later run; leave out --same-output"
            )

    def _rows(self, ran: CommandRun) -> dict[str, float]:
        if self.asked.read:
            return rows_of(self.asked.read, ran.stdout, ran.files, self.asked.goal)
        if self.asked.goal == "instructions":
            return {WHOLE: float(ran.instructions)}
        return {WHOLE: max(_TICK_S, ran.cpu_s if self.asked.goal == "cpu" else ran.wall_s)}

    # --------------------------------------------------------------------------------------------------- judging

    def _ratios(self, arm: Arm) -> dict[str, list[float]]:
        """base / arm of the rows that every run has."""
        names = set.intersection(*(set(rows) for pair in self.pairs for rows in pair.values()))
        order = [name for name in self.pairs[0]["base"] if name in names]
        return {name: [pair["base"][name] / pair[arm][name] for pair in self.pairs] for name in order}

    def _overall(self, arm: Arm) -> list[float]:
        """The geometric mean over the rows, one value for each pair."""
        columns = list(self._ratios(arm).values())
        if not columns:
            raise InputError("no benchmark has a result in every run of both sides; check the command")
        return [geometric_mean(list(pair)) for pair in zip(*columns, strict=True)]

    def _is_decided(self) -> bool:
        if len(self.pairs) < self.rule.least:
            return False
        if self._control_words():
            return False  # more pairs may show that this was chance; if not, the race ends undecided
        words = {*self._words().values(), judge(self._overall("head"), self.rule)}
        return "undecided" not in words

    def _words(self) -> dict[str, Word]:
        rows = self._ratios("head")
        if len(rows) == 1:
            return {name: judge(ratios, self.rule) for name, ratios in rows.items()}
        return judge_rows(rows, self.rule)

    def _control_words(self) -> list[str]:
        """The rows in which base differs from itself."""
        rows = self._ratios("control")
        rule = replace(self.rule, slower_guard=self.rule.guard)
        words = judge_rows(rows, rule) if len(rows) > 1 else {name: judge(one, rule) for name, one in rows.items()}
        return [name for name, word in words.items() if word in CHANGES]

    def _judged(self, exercise: Exercise | None, pressure: float | None) -> VersionsRaced:
        suspect, words = self._control_words(), self._words()
        overall = judge(self._overall("head"), self.rule)
        elapsed = interval_at_any_time([walls["base"] / walls["head"] for walls in self.walls])
        if suspect:
            self.notes.append(
                f"base against itself differs in {', '.join(suspect[:5])}: no verdict can be trusted here"
            )
            words, overall = dict.fromkeys(words, "undecided"), "undecided"
        elif overall == "faster" and self.asked.goal != "wall" and elapsed.high < WAITING:
            self.notes.append(
                f"faster by {measured_as(self.asked.goal, self.asked.tool)}, but it takes longer by the wall clock "
                f"({elapsed}): no gain"
            )
            overall = "undecided"
            words = {name: "undecided" if word == "faster" else word for name, word in words.items()}
        elif overall == "undecided":
            self.notes.append(self._cure())
        self._remarks(pressure)
        result = self._result(overall, exercise, pressure)
        return replace(
            result,
            ratio=interval_at_any_time(self._overall("head")),
            control=interval_at_any_time(self._overall("control")),
            doubt=bool(suspect or self._left_out()),
            elapsed=elapsed,
            rows=tuple(self._row(name, word) for name, word in words.items()),
        )

    def _cure(self) -> str:
        """The options with which an undecided race is likely to end: an interval shrinks with the root of the pairs."""
        ratio, done = interval_at_any_time(self._overall("head")), len(self.pairs)
        times = times_for(ratio, self.rule.margin)
        if times > _MOST_TIMES:
            return "more pairs will hardly decide this: give the command more work, or a larger --margin"
        wanted = max(math.ceil(times * done), 2 * self.asked.pairs if done >= self.asked.pairs else 0)
        options = f"--pairs {wanted}"
        if (seconds := math.ceil(1.25 * self.spent_s * wanted / done)) > self.asked.seconds:
            options += f" --max-seconds {seconds}"
        return f"to decide it, race again with {options}"

    def _remarks(self, pressure: float | None) -> None:
        one_s = statistics.median(walls["base"] for walls in self.walls)
        if not self.asked.read and self.asked.goal != "instructions" and one_s < TOO_SHORT_S:
            self.notes.append(
                f"a run takes {1000 * one_s:.0f} ms, and starting a process is a part of that: give the command more "
                "work, or a change looks smaller than it is"
            )
        if pressure is not None and pressure > WALL_AT_MOST and self.asked.goal == "wall":
            self.notes.append(
                f"other programs used the cores (CPU pressure {pressure:.0f} %): wall time needs more pairs"
            )
        if left_out := self._left_out():
            self.notes.append(
                f"head lacks results of {', '.join(left_out[:5])}, which base has in every run: a doubt, because what "
                "head leaves out is not judged; make the same benchmarks run on both sides"
            )
        if missing := sorted(self._missing() - {*left_out}):
            self.notes.append(f"not judged, since not every run has a result: {', '.join(missing[:5])}")

    def _missing(self) -> set[str]:
        every = {name for pair in self.pairs for rows in pair.values() for name in rows}
        return every - set(self._ratios("head"))

    def _left_out(self) -> list[str]:
        """The rows that each run of base has and some run of head has not."""
        always = set.intersection(*(set(pair[arm]) for pair in self.pairs for arm in ("base", "control")))
        return sorted(self._missing() & always)

    def _row(self, name: str, word: Word) -> RaceRow:
        ratios = self._ratios("head")[name]
        typical = {arm: statistics.median(pair[arm][name] for pair in self.pairs) for arm in ("base", "head")}
        return RaceRow(name, word, interval_at_any_time(ratios), typical["base"], typical["head"])

    def _result(self, verdict: str, exercise: Exercise | None, pressure: float | None) -> VersionsRaced:
        base, head = self.sides["base"], self.sides["head"]
        return VersionsRaced(
            verdict=verdict,
            base=base.described(),
            head=head.described(),
            command=shown_command(base) if base.words == head.words else "",
            goal=self.asked.goal,
            margin=self.rule.margin,
            slower_by=self.rule.slower_guard,
            alpha=self.rule.alpha,
            pairs=len(self.pairs),
            protection=self.runner.protection,
            exercise=exercise,
            pressure=pressure,
            notes=tuple(self.notes),
            samples=tuple(self.pairs) if not self.asked.read else (),  # type: ignore[arg-type]
            read=self.asked.tool,
            same_output=verdict != "wrong" if self.asked.same_output else None,
        )


def times_for(ratio: Interval, margin: float) -> float:
    """How many times as many pairs make an interval so narrow that it fits into the margin; at least twice as many."""
    if ratio.low <= 0 or ratio.high == math.inf:
        return math.inf
    return max(2.0, (math.log(ratio.high / ratio.low) / 2 / math.log1p(margin)) ** 2)


def _passes(first: Mapping[Name, CommandRun]) -> int:
    """How often each arm runs in a pair."""
    shortest = min(ran.wall_s for ran in first.values())
    return 3 if shortest < VERY_SHORT_S else 2 if shortest < SHORT_S else 1
