"""The run folder: append, read, replay.

``run.toml`` describes the run.  ``events.jsonl`` holds one flushed line per part, keyed by (batch, slot), written as
soon as the part exists; a torn last line is dropped.  No recorded part is requested, run or paid again: a resume
rebuilds its states from these lines alone, because searches are pure functions of them.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, final

import msgspec
import tomli_w

from maxcode.core.files import FileKind, read_lines, read_text, write_whole
from maxcode.core.jsonl import DAMAGED, LINES, append_line, in_words_of_today, open_lines
from maxcode.core.types import Action, Evaluation, StateId, Usage
from maxcode.errors import RecordError
from maxcode.run.changes import differences, next_out

_HEADER = FileKind(cure="give a folder that this user may read", error=RecordError)
EVENTS = "events.jsonl"
HEADER = "run.toml"
GIVEN = "given"  # the table of run.toml with the whole paths of the problem and its tests


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="part", tag=str.lower, omit_defaults=True):
    """One line.  ``t`` is the Unix time of writing, ``waited`` the seconds that its process had waited for other runs
    since it opened the record; only a cap on seconds depends on them."""

    t: float = 0.0
    waited: float = 0.0


class Opened(Event, frozen=True):
    """A process started or resumed the run."""


class Batch(Event, frozen=True):
    """A batch was launched: the ids of the states to expand, by slot."""

    batch: int
    parents: tuple[StateId, ...]


class Launched(Event, frozen=True):
    """A slot was launched: the caps allowed it, and a resume does not check them again."""

    at: StateId


class Proposed(Event, frozen=True):
    """A policy answered."""

    at: StateId
    action: Action


class Evaluated(Event, frozen=True):
    """The evaluator answered."""

    at: StateId
    evaluation: Evaluation


class Critiqued(Event, frozen=True):
    """The critic answered."""

    at: StateId
    critique: str


class Settled(Event, frozen=True):
    """A batch is final.

    It holds the values by slot (empty without a value model), the evaluations of the referee by slot, the new one of
    the incumbent if its speed-up was not confirmed again, and the slots that were dropped because of a cap, or because
    the critic saw no further gain: those that were launched had not been measured when the seconds were spent.
    """

    batch: int
    values: tuple[float, ...] = ()
    evaluations: dict[int, Evaluation] = {}
    champion: tuple[StateId, Evaluation] | None = None
    dropped: tuple[int, ...] = ()


Line = Opened | Batch | Launched | Proposed | Evaluated | Critiqued | Settled

_decode = msgspec.json.Decoder(Line)
_encode = msgspec.json.Encoder()


def readable_again(evaluation: Evaluation) -> Evaluation:
    """The evaluation, if a line can hold it and a resume reads that line; else raises.  Not all texts and numbers can:
    half of a surrogate pair, infinity."""
    msgspec.json.decode(_encode.encode(evaluation), type=Evaluation)
    return evaluation


@final
class Record:
    """An open run folder, locked until closed.  ``folder=None`` keeps everything in memory (training, tests)."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.folder = folder
        self.batches: dict[int, Batch] = {}
        self.settled: dict[int, Settled] = {}
        self.actions: dict[StateId, Action] = {}
        self.evaluations: dict[StateId, Evaluation] = {}
        self.critiques: dict[StateId, str] = {}
        self.planned = 0  # candidates of all batches, also active ones, without slots that were dropped or passed
        self.launched: set[StateId] = set()
        self.proposals = Usage()  # the cost of all recorded proposals
        self._file: BinaryIO | None = None
        self._watch = Stopwatch()
        if folder is not None:
            self._open(folder)
        self.append(Opened())

    def _open(self, folder: Path) -> None:
        self._file = open_lines(folder / EVENTS)
        try:
            for line in read_events(folder):
                self._index(line)
        except RecordError:
            self.close()
            raise

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, event: Line, waited: float = 0.0) -> None:
        """Writes one part and flushes it to the operating system before returning; ``waited``: seconds that this
        process waited for other runs so far."""
        stamped = msgspec.structs.replace(event, t=round(self._clock(), 3), waited=round(waited, 3))
        if self._file is not None:
            append_line(self._file, _encode.encode(stamped), EVENTS)
        self._index(stamped)

    def _index(self, line: Line) -> None:
        self._watch.see(line)
        match line:
            case Batch():
                self.batches[line.batch] = line
                self.planned += len(line.parents)
            case Launched():
                self.launched.add(line.at)
            case Proposed():
                self.actions[line.at] = line.action
                self.proposals += line.action.usage
                self.planned -= line.action.no_gain
            case Evaluated():
                self.evaluations[line.at] = line.evaluation
            case Critiqued():
                self.critiques[line.at] = line.critique
            case Settled():
                self.settled[line.batch] = line
                self.planned -= len(line.dropped)
            case Opened():
                pass

    @property
    def seconds(self) -> float:
        """Wall seconds of all processes that worked on the run, without the pauses between them and without their waits
        for other runs."""
        return self._watch.seconds

    def seconds_now(self, waited: float = 0.0) -> float:
        """``seconds``, if a line were written now."""
        return self._watch.seconds_at(self._clock() - waited)

    def close(self) -> None:
        """Releases the lock of the folder."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_events(folder: Path) -> Iterator[Line]:
    """The recorded lines in order, without a torn last line.

    Raises RecordError, which names the line, if another line is damaged.
    """
    for number, line in enumerate(read_lines(folder / EVENTS, LINES), start=1):
        try:
            yield _decode.decode(in_words_of_today(line))
        except DAMAGED as error:
            raise RecordError(
                f"{folder / EVENTS}, line {number} is damaged ({error}); "
                f"keep the {number - 1} lines before it, or start again with another folder"
            ) from error


@final
class Stopwatch:
    """Adds up the time from each process's first line to its last, without waits for other runs; ``see`` must receive
    all lines in order."""

    def __init__(self) -> None:
        self._past = self._started = self._last = 0.0

    def see(self, line: Line) -> None:
        if isinstance(line, Opened):
            self._past, self._started = self.seconds, line.t
        self._last = line.t - line.waited

    @property
    def seconds(self) -> float:
        return self.seconds_at(self._last)

    def seconds_at(self, now: float) -> float:
        return self._past + now - self._started


def read_header(folder: Path) -> dict[str, Any]:
    """The content of ``run.toml``; empty if there is no run yet.  Raises RecordError if it cannot be read."""
    path = folder / HEADER
    return header_in(path) if path.exists() else {}


def header_in(path: Path) -> dict[str, Any]:
    """The content of the TOML file of a run or of a bench; raises RecordError if it cannot be read."""
    try:
        return tomllib.loads(read_text(path, _HEADER))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError, a number of thousands of digits, deep nesting
        raise RecordError(
            f"cannot read {path}: {path.name} is damaged ({error}); mend that line, or choose another --out"
        ) from error


def check_header(folder: Path, header: Mapping[str, object], may_change: frozenset[str]) -> None:
    """Writes ``run.toml``, or compares it with the existing one.

    Raises RecordError, which names the differences, if the folder belongs to another run; keys in ``may_change`` may
    differ.
    """
    path = folder / HEADER
    if path.exists():
        _compare(folder, read_header(folder), tomllib.loads(tomli_w.dumps(dict(header))), may_change)
    write_whole(path, tomli_w.dumps(dict(header)).encode())


def _compare(folder: Path, old: Mapping[str, object], new: Mapping[str, object], may_change: frozenset[str]) -> None:
    if differing := differences(old, new, may_change):
        other = [one for one in differing if one.startswith("problem was ")]  # then all the rest differs with it
        raise RecordError(
            f"{folder} holds another run ({'; '.join(other or differing)}); give --out {next_out(folder)} for a new "
            "run, or repeat the first command"
        )
