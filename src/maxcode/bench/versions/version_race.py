"""Races two versions: untimed runs that show that both work and that the change is used, then pairs until a verdict.

A pair is one run of base, one of head, and one of base once more as a control, in random order; short runs are made two
or three times, and the fastest of each side counts.  The control has a folder and a build of its own, as head has, and
is judged like head: if it differs from base, the machine, the place or the build makes a difference, and no verdict is
given.  Of whole commands the control is the command of base again, which shows the noise alone.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import final

from maxcode.bench.versions.asked import RaceAsked
from maxcode.bench.versions.benchmark_rows import check_format, refuse_old_results, rows_of
from maxcode.bench.versions.command_runs import CommandRun, CommandRunner, missing_counter, runner_of, shown_command
from maxcode.bench.versions.opened import opened
from maxcode.bench.versions.pairs_so_far import PairsSoFar
from maxcode.bench.versions.result import Exercise, RaceWord, VersionsRaced
from maxcode.bench.versions.version_side import (
    Name,
    VersionSide,
    changed_files,
    copied,
    differing_caches,
    dirt_of,
    moved_submodules,
    sides_of,
    with_caches,
)
from maxcode.bench.versions.worktrees import Scratch, scratch
from maxcode.core.two_sided import interval_at_any_time
from maxcode.errors import InputError
from maxcode.evaluate.machine.pressure import watched
from maxcode.sandbox.lanes import timing_lane

WHOLE = "the whole process"
SHORT_S, VERY_SHORT_S = 0.15, 0.02  # a shorter run is made twice in a pair, or three times
TURN_S = 10.0  # of the timing lane, which other races on the machine wait for
_TICK_S = 1e-6
_SAY_EVERY = 5

Say = Callable[[str], None]
Sides = Mapping[Name, VersionSide]


async def race_versions(asked: RaceAsked, say: Say = lambda text: None) -> VersionsRaced:
    """The verdict on two versions.

    InputError for sides or commands that do not exist, fail, take too long or are the same; UnsafeError if there is no
    sandbox.  ``say`` gets lines of progress.
    """
    pairs = PairsSoFar(asked, asked.rule)
    _refuse(asked)
    with scratch() as place:
        sides = sides_of(asked, place)
        notes = [note for note in (dirt_of(sides), moved_submodules(sides)) if note]
        async with runner_of(asked) as runner:
            caches = differing_caches(sides["base"].folder, sides["head"].folder)
            race = _Race(asked, sides, runner, say, notes, pairs, caches)
            if race.is_equal(race.changed()):
                return race.result("nothing differs")
            if asked.build:
                race.sides = {name: await _built(side, asked, runner, place, say) for name, side in sides.items()}
            return await race.run()


def _refuse(asked: RaceAsked) -> None:
    """InputError for options that cannot be used together."""
    if asked.read:
        check_format(asked.read)
        if not asked.trusts_both:
            refuse_old_results(asked.read)
        if asked.goal == "instructions":
            raise InputError(
                f"--goal instructions counts the whole process, and --read {asked.read} takes what the benchmark says, "
                "which would run some fifty times slower; leave one of them out"
            )
    if asked.goal == "instructions" and (why := missing_counter()):
        raise InputError(why)


async def _built(side: VersionSide, asked: RaceAsked, runner: CommandRunner, place: Scratch, say: Say) -> VersionSide:
    say(f"{side.name}: building")
    return await runner.build(copied(side, place) if asked.trusts_both else side, asked.build, place)


@final
@dataclass(slots=True)
class _Race:
    """One race.  ``caches``: what Python compiled that counts as a difference (``differing_caches``).  ``is_wrong``:
    head printed something else in a timed run."""

    asked: RaceAsked
    sides: Sides
    runner: CommandRunner
    say: Say
    notes: list[str]
    pairs: PairsSoFar
    caches: frozenset[str] = frozenset()
    order: random.Random = field(default_factory=random.SystemRandom)
    output: bytes = b""
    is_wrong: bool = False

    async def run(self) -> VersionsRaced:
        changed = self.changed()
        if self.is_equal(changed):
            return self.result("nothing differs")
        if own := [name for name in changed if "bench" in name.lower() and PurePath(name).suffix]:
            self.notes.append(
                f"the benchmark itself differs ({', '.join(own[:3])}): if one side does more work, that is timed too; "
                "--build can copy one version of it into both"
            )
        exercise, first = await self._first_runs(changed)
        if exercise is not None and not exercise.is_shown and not exercise.why_not:
            return self.result("not exercised", exercise)
        if self.asked.same_output and not self._same_outputs(first):
            return self.result("wrong", exercise)
        pressure = watched()
        await self._pairs(1 if self.asked.read else _passes(first))
        if self.is_wrong:
            return self.result("wrong", exercise, pressure())
        return self._judged(exercise, pressure())

    def changed(self) -> list[str]:
        """The files in which the sides differ."""
        return changed_files(self.sides["base"].folder, self.sides["head"].folder, self.caches)

    def is_equal(self, changed: list[str]) -> bool:
        """Whether there is nothing to race, which is an error unless the user asked for an answer."""
        base, head = self.sides["base"], self.sides["head"]
        if changed or base.words != head.words or self.asked.same_sides:
            return False
        if self.asked.allow_equal:
            return True
        raise InputError(
            f"{base.described()} and {head.described()} have the same files and the same command, so there is nothing "
            "to race; name another version, or give --same-sides to see the noise of this machine"
            + "".join(f".  {note[0].upper()}{note[1:]}" for note in self.notes)
        )

    async def _first_runs(self, changed: list[str]) -> tuple[Exercise | None, dict[Name, CommandRun]]:
        """One untimed run of each side, in which the changed files are watched."""
        runs: dict[Name, CommandRun] = {}
        used: dict[Name, set[str]] = {}
        why_not = ""
        for name, side in self.sides.items():
            self.say(f"{name}: first run, not timed")
            watched_files = with_caches(side.folder, changed)
            with opened(side.folder, list(watched_files)) as seen:
                runs[name] = await self._once(side)
            used[name], why_not = {watched_files[path] for path in seen.paths}, why_not or seen.why_not
        self.output = runs["base"].stdout
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
        if ran.trouble.startswith("took more than"):
            return (
                f"{side.name} {side.described()}: one run of {shown_command(side)!r} takes more than "
                f"{self.asked.run_s:.3g} s, and a verdict needs {3 * self.pairs.rule.least} runs within --max-seconds "
                f"{self.asked.seconds:g}; give a smaller workload, or more seconds"
            )
        is_unbuilt = not self.asked.build and "not found" in ran.trouble
        cure = "if it must be built first, give --build make; else " if is_unbuilt else ""
        cure += "make the command work on both sides"
        if not self.asked.trusts_both:
            cure += " (in the sandbox a side is read-only, TMPDIR is writable, only /usr is shown, and there is no "
            cure += "network: --show FOLDER, or --trust-both)"
        return f"{side.name} {side.described()} fails: {shown_command(side)!r} {ran.trouble}; {cure}{side.lacks}"

    def _same_outputs(self, first: Mapping[Name, CommandRun]) -> bool:
        if first["control"].stdout != self.output:
            raise InputError(
                "base prints something else each time, so outputs cannot be compared; leave out --same-output"
            )
        return first["head"].stdout == self.output

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
                    if not self.is_wrong and len(self.pairs.values) % _SAY_EVERY == 0:
                        middle = statistics.median(self.pairs.overall("head"))
                        self.say(f"{len(self.pairs.values)} pairs, {spent_s:.0f} s: head {middle:.3f}x")
        self.pairs.spent_s = spent_s
        if not self.is_wrong and len(self.pairs.values) < self.asked.pairs and not self.pairs.is_decided:
            self.notes.append(f"the time is over (--max-seconds {self.asked.seconds:g})")

    def _goes_on(self, spent_s: float) -> bool:
        """Whether another pair is needed, allowed, and likely to fit."""
        done = len(self.pairs.values)
        if self.is_wrong or done >= self.asked.pairs or self.pairs.is_decided:
            return False
        return not done or spent_s * (1 + 1 / done) <= self.asked.seconds

    async def _pair(self, passes: int) -> None:
        """Each side so often, in random order."""
        names = list(self.sides) * passes
        self.order.shuffle(names)
        rows: dict[Name, dict[str, float]] = {}
        walls: dict[Name, float] = {}
        for name in names:
            ran = await self._once(self.sides[name])
            if self.asked.same_output and ran.stdout != self.output:
                self._other_output(self.sides[name])
                return
            walls[name] = min(ran.wall_s, walls.get(name, ran.wall_s))
            found, earlier = self._rows(ran), rows.get(name, {})
            rows[name] = {row: min(value, earlier.get(row, value)) for row, value in found.items()}
        self.pairs.values.append(rows)
        self.pairs.walls.append(walls)

    def _other_output(self, side: VersionSide) -> None:
        """Head is wrong if it prints something else once; of base that says that outputs cannot be compared."""
        if side.name != "head":
            raise InputError(
                f"{side.name} {side.described()} prints something else in a later run; leave out --same-output"
            )
        self.is_wrong = True
        self.notes.append(f"head printed another output in one of its runs, after {len(self.pairs.values)} whole pairs")

    def _rows(self, ran: CommandRun) -> dict[str, float]:
        if self.asked.read:
            return rows_of(self.asked.read, ran.stdout, ran.files, self.asked.goal)
        if self.asked.goal == "instructions":
            return {WHOLE: float(ran.instructions)}
        return {WHOLE: max(_TICK_S, ran.cpu_s if self.asked.goal == "cpu" else ran.wall_s)}

    # --------------------------------------------------------------------------------------------------------- results

    def _judged(self, exercise: Exercise | None, pressure: float | None) -> VersionsRaced:
        pairs, found = self.pairs, self.pairs.judged()
        self.notes += [*found.notes, *pairs.remarks(pressure)]
        return replace(
            self.result(found.verdict, exercise, pressure),
            ratio=interval_at_any_time(pairs.overall("head")),
            control=interval_at_any_time(pairs.overall("control")),
            doubt=bool(found.suspect or pairs.left_out()),
            elapsed=pairs.elapsed,
            same_output=True if self.asked.same_output else None,
            rows=tuple(pairs.row(name, word) for name, word in found.words.items()),
        )

    def result(
        self, verdict: RaceWord, exercise: Exercise | None = None, pressure: float | None = None
    ) -> VersionsRaced:
        """A result without figures of pairs."""
        base, head, rule = self.sides["base"], self.sides["head"], self.pairs.rule
        return VersionsRaced(
            verdict=verdict,
            base=base.described(),
            head=head.described(),
            command=shown_command(base) if base.words == head.words else "",
            goal=self.asked.goal,
            margin=rule.margin,
            slower_by=rule.slower_guard,
            alpha=rule.alpha,
            pairs=len(self.pairs.values),
            protection=self.runner.protection,
            exercise=exercise,
            pressure=pressure,
            notes=tuple(self.notes),
            samples=tuple(self.pairs.values),  # type: ignore[arg-type]
            read=self.asked.tool,
            same_output=False if verdict == "wrong" else None,
        )


def _passes(first: Mapping[Name, CommandRun]) -> int:
    """How often each side runs in a pair."""
    shortest = min(ran.wall_s for ran in first.values())
    return 3 if shortest < VERY_SHORT_S else 2 if shortest < SHORT_S else 1
