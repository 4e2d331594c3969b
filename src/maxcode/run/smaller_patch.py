"""The smallest patch with the whole gain: its hunks are taken out in turn and raced; what does not pay is dropped.

The hunks of one function or macro stay together, and lines that are only taken away are not put back by themselves.
Groups of near hunks are tried first, then single ones, then those that belong together: the hunks that share a name
which the patch adds, such as a function and its calls; those of a file; at last a few pairs.  What names the same as
something that was dropped is tried again, because it may have been needed only for that.  Each result is written to
``smaller.jsonl`` the moment it is known, so that a run that was killed races nothing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import final

import msgspec

from maxcode.code.definitions import definitions
from maxcode.code.hunks import Hunk, groups_of, hunks_of, without
from maxcode.code.languages import language_at
from maxcode.code.linked_hunks import Group, linked, of_files, units
from maxcode.code.source import normalise
from maxcode.core.files import read_file, read_lines, write_whole
from maxcode.core.types import Action, Evaluation, Outcome, Problem, Program, State, Step
from maxcode.evaluate.harness_protocol import Loss, LossMeter, SearchHarness
from maxcode.run.given_candidate import digest_of

FILE, BEST = "smaller.jsonl", "best"
LEFT_OUT, KEPT = "were left out", "parts of the patch that stay:"  # in the notes
_NAMED = 4  # hunks in a line of progress
_PAIRS_AT_MOST = 10  # of needed hunks, tried together
_LINKED_AT_MOST = 12  # groups of hunks that share a name


class _Line(msgspec.Struct, omit_defaults=True):
    """One result: the digests of the whole patch and of the smaller one.  ``whole`` is empty for a confirmation; a line
    with both digests and an evaluation says that the smaller one is the winner."""

    whole: str
    less: str
    loss: Loss | None = None
    evaluation: Evaluation | None = None


@final
@dataclass(frozen=True, slots=True)
class SmallerPatch:
    """A winner without what does not pay.

    ``evaluation``: on fresh pairs; None if nothing was dropped.
    ``dropped``: where base stays as it is; ``kept``: how many hunks remain.
    ``late``: why it was not tried to the end, or empty.
    ``stays``: how many parts stay that were tried alone, by the verdict on the patch without each (``Loss``).
    """

    program: Program
    evaluation: Evaluation | None = None
    dropped: tuple[str, ...] = ()
    kept: int = 0
    late: str = ""
    stays: Mapping[str, int] = field(default_factory=dict)

    def notes(self) -> Iterator[str]:
        """What was dropped, for the reader."""
        yield from [self.late] if self.late else ()
        if self.dropped:
            yield (
                f"{len(self.dropped)} of {len(self.dropped) + self.kept} changes of the patch {LEFT_OUT}: it is as "
                f"fast without them (lines of base: {', '.join(self.dropped[:5])}{', ...' * (len(self.dropped) > 5)})"
            )
        if self.stays:
            needed, slower = self.stays.get("needed", 0), self.stays.get("slower", 0)
            told = {
                "it is proved slower": slower,
                "it does not build or is not right": needed,
                "nothing is proved": sum(self.stays.values()) - needed - slower,
            }
            counts = ", ".join(f"without {count} {what}" for what, count in told.items() if count)
            yield f"{KEPT} {sum(self.stays.values())}, each tried alone: {counts}"


@final
@dataclass(slots=True)
class _Search:
    harness: SearchHarness
    meter: LossMeter
    problem: Problem
    folder: Path
    say: Callable[[str], None]
    known: dict[tuple[str, str], _Line] = field(default_factory=dict)
    alone: dict[Group, str] = field(default_factory=dict)  # the last verdict on each part that was tried by itself

    async def smaller(self, winner: Program) -> SmallerPatch:
        base = self.problem.program.files
        every = hunks_of(base, winner.files)
        parts = await self._dropped(winner, every)
        while parts:
            dropped = Group().union(*parts)
            program = Program(without(base, winner.files, dropped))
            loss = await self._loss(winner, program)  # several small losses can add up
            found = await self._confirmed(program) if loss.is_free else None
            if found is not None and found.timing is not None and found.timing.significant:
                self._choose(_Line(digest_of(winner), digest_of(program), loss, found))
                places = [f"{hunk.path}:{hunk.before[0] + 1}" for hunk in every if hunk in dropped]
                return SmallerPatch(
                    program, found, tuple(places), len(every) - len(dropped), stays=self._stays(dropped)
                )
            parts = parts[: len(parts) // 2]  # each was free beside those before it
        return SmallerPatch(winner, kept=len(every), stays=self._stays(Group()))

    def _stays(self, dropped: Group) -> Counter[str]:
        return Counter(verdict for part, verdict in self.alone.items() if not part & dropped)

    async def _dropped(self, winner: Program, every: tuple[Hunk, ...]) -> list[Group]:
        """The hunks that do not pay, in the order in which they were taken out."""
        base, dropped, step, found = self.problem.program.files, Group(), 0, list[Group]()
        links = linked(base, winner.files, every, _normal)[:_LINKED_AT_MOST]
        whole = units(base, winner.files, every, functions_in)
        waiting = list(self._parts(every, whole, links))
        tried: set[tuple[Group, Group]] = set()  # what was taken out, beside which hunks of the same names
        while waiting:
            part = waiting.pop(0) - dropped
            context = part, dropped & _neighbours(part, links)
            if all(map(_is_deletion, part)) or context in tried or len(part | dropped) == len(every):
                continue
            tried.add(context)
            step += 1
            self.say(f"smaller patch, step {step} of about {step + len(waiting)}: without {_places(part)}")
            loss = await self._loss_of(winner, every, dropped, part)
            if part in whole and loss is not None:
                self.alone[part] = loss.verdict
            if loss is not None and loss.is_free:
                self.say(f"smaller patch: it is as fast without {_places(part)}")
                dropped |= part
                found.append(part)
                waiting += [unit for unit in whole if unit & _neighbours(part, links)]
        return found

    async def _loss_of(self, winner: Program, every: tuple[Hunk, ...], dropped: Group, part: Group) -> Loss | None:
        """None where it is not measured: nothing would be left, or a comment goes without what it explains."""
        base = self.problem.program.files
        whole, less = (Program(without(base, winner.files, gone)) for gone in (dropped, dropped | part))
        if less.files == base or whole.files == less.files or self._explains(part, every, whole, less):
            return None
        return await self._loss(whole, less)

    def _explains(self, part: Group, every: tuple[Hunk, ...], whole: Program, less: Program) -> bool:
        """Whether it is a comment beside another change, which it may explain."""
        alone = any(set(group) == part for group in groups_of(every))
        return not alone and _is_same(whole, less)

    def _parts(self, every: tuple[Hunk, ...], whole: list[Group], links: list[Group]) -> Iterator[Group]:
        """What is tried, in order, none of it a part of one of ``whole``."""
        groups = [Group(group) for group in groups_of(every)]
        pairs = [one | other for one, other in combinations(whole, 2) if _in_one_file(one, other) or len(whole) <= 4]
        for part in (*groups, *whole, *links, *of_files(every), *pairs[:_PAIRS_AT_MOST]):
            yield Group().union(*(unit for unit in whole if unit & part))

    async def _loss(self, whole: Program, less: Program) -> Loss:
        key = digest_of(whole), digest_of(less)
        line = self.known.get(key)
        if line is not None and line.loss is not None:
            return line.loss
        if _is_same(whole, less):
            return Loss("no change", "only comments and layout differ")
        found = await self.meter.loss(self.problem, whole, less)
        self._write(_Line(*key, loss=found))
        return found

    async def _confirmed(self, program: Program) -> Evaluation:
        key = "", digest_of(program)
        line = self.known.get(key)
        if line is not None and line.evaluation is not None:
            return line.evaluation
        state = State(
            self.problem, State(self.problem), Step(Action(program), Evaluation(Outcome.CORRECT), 0.0), (1, 0)
        )
        found = (await self.harness.settle(self.problem, [state], None))[state.id]
        self._write(_Line(*key, evaluation=found))
        return found

    def _choose(self, line: _Line) -> None:
        known = self.known.get((line.whole, line.less))
        if known is None or known.evaluation is None:
            self._write(line)

    def _write(self, line: _Line) -> None:
        self.known[line.whole, line.less] = line
        with (self.folder / FILE).open("ab") as file:
            file.write(msgspec.json.encode(line) + b"\n")


def _places(part: Group) -> str:
    places = sorted(part, key=lambda hunk: (hunk.path, hunk.after))
    more = len(places) - _NAMED
    named = ", ".join(map(str, places[:_NAMED]))
    return named + (f" and {more} more" if more > 0 else "")


async def smaller_patch(
    harness: SearchHarness, problem: Problem, winner: Program, folder: Path, say: Callable[[str], None]
) -> SmallerPatch:
    """The winner without what does not pay; the winner itself if the harness cannot measure that."""
    if not isinstance(harness, LossMeter) or winner.files == problem.program.files:
        return SmallerPatch(winner)
    return await _Search(harness, harness, problem, folder, say, _read(folder)).smaller(winner)


def not_measured(folder: Path, original: Program, whole: Program, late: str = "") -> SmallerPatch:
    """The winner of a command that does not try what pays, and why: the smaller patch in ``best/`` of an earlier
    command, or ``whole``."""
    kept = in_best(folder, original, whole)
    return SmallerPatch(whole, late=late) if kept is None else SmallerPatch(*kept)


def in_best(folder: Path, original: Program, whole: Program) -> tuple[Program, Evaluation] | None:
    """The smaller patch in ``best/`` and its confirmation, if a command chose it as what pays of the winner ``whole``;
    InputError if a file cannot be read."""
    if not (folder / FILE).exists():
        return None
    there = {path: folder / BEST / path for path in whole.files if (folder / BEST / path).is_file()}
    texts = {path: read_file(file).decode(errors="replace") for path, file in there.items()}
    less = Program({**original.files, **texts})
    wanted = digest_of(whole), digest_of(less)
    lines = _decoded(read_lines(folder / FILE))
    found = next((line.evaluation for line in lines if line.evaluation and (line.whole, line.less) == wanted), None)
    return None if found is None else (less, found)


def _read(folder: Path) -> dict[tuple[str, str], _Line]:
    """The results that are known; a torn last line is dropped."""
    found: dict[tuple[str, str], _Line] = {}
    if not (folder / FILE).exists():
        return found
    whole, mark, torn = (folder / FILE).read_bytes().rpartition(b"\n")
    if torn:
        write_whole(folder / FILE, whole + mark)
    for line in _decoded(whole.splitlines()):
        found[line.whole, line.less] = line
    return found


def _decoded(lines: Iterable[bytes]) -> Iterator[_Line]:
    """The lines that are results; others are left out, and measured again."""
    for text in lines:
        with suppress(msgspec.DecodeError):
            yield msgspec.json.decode(text, type=_Line)


def functions_in(path: str, text: str) -> list[tuple[int, int]]:
    """The lines of each function, and of each macro of several lines, if the language of the text is known."""
    language = language_at(path)
    found = definitions(language, text) if language else ()
    macros = _macros(text) if language in ("c", "cpp") else ()
    return [*((one.first - 1, one.last) for one in found if not one.is_type), *macros]


def _macros(text: str) -> Iterator[tuple[int, int]]:
    first = None
    for number, line in enumerate(text.split("\n")):
        goes_on = line.rstrip().endswith("\\")
        if first is None and goes_on:
            first = number
        elif first is not None and not goes_on:
            yield first, number + 1
            first = None


def _is_same(one: Program, other: Program) -> bool:
    """Whether only comments and layout differ."""
    if one.files.keys() != other.files.keys():
        return False
    differing = [path for path, text in one.files.items() if other.files[path] != text]
    return all(_normal(path, one.files[path]) == _normal(path, other.files[path]) for path in differing)


def _normal(path: str, text: str) -> str:
    """A text without comments and layout, if its language is known."""
    language = language_at(path)
    return normalise(language, text) if language else text


def _neighbours(part: Group, links: list[Group]) -> Group:
    """The other hunks that share an added name with one of these."""
    return Group().union(*(group for group in links if group & part)) - part


def _in_one_file(one: Group, other: Group) -> bool:
    return bool({hunk.path for hunk in one} & {hunk.path for hunk in other})


def _is_deletion(hunk: Hunk) -> bool:
    return hunk.after[0] == hunk.after[1]
