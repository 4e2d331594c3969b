"""The run folder: append, read, replay.

``run.toml`` says what the run is; ``events.jsonl`` holds one flushed line per part, keyed by (batch, slot), written
the moment the part exists.  A torn last line is dropped.  Nothing recorded is ever asked for, run or paid again: a
resume rebuilds its states from these lines alone, because searches are pure functions of them.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, final

import msgspec
import tomli_w

from maxcode.core.files import write_whole
from maxcode.core.jsonl import append_line, in_words_of_today, open_lines
from maxcode.core.types import Action, Evaluation, StateId, Usage
from maxcode.errors import RecordError

EVENTS = "events.jsonl"
HEADER = "run.toml"


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="part", tag=str.lower):
    """One line.  ``t`` is the Unix time at which it was written; it takes no part in any decision."""

    t: float = 0.0


class Opened(Event, frozen=True):
    """A process started or resumed the run."""


class Batch(Event, frozen=True):
    """A batch was launched: the ids of the states to expand, by slot."""

    batch: int
    parents: tuple[StateId, ...]


class Launched(Event, frozen=True):
    """A slot was launched: the caps allowed it, and a resume does not ask them again."""

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
    """A batch is finished: its values (by slot, empty without a value model), by slot the evaluations that the referee
    made anew, that of the champion before it where that one did not hold, and the slots that were dropped because a cap
    was reached before they were launched."""

    batch: int
    values: tuple[float, ...] = ()
    evaluations: dict[int, Evaluation] = {}
    champion: tuple[StateId, Evaluation] | None = None
    dropped: tuple[int, ...] = ()


Line = Opened | Batch | Launched | Proposed | Evaluated | Critiqued | Settled

_decode = msgspec.json.Decoder(Line)
_encode = msgspec.json.Encoder()


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
        self.planned = 0  # candidates of all batches, in-flight ones counted, those dropped by a cap left out
        self.launched: set[StateId] = set()
        self.proposals = Usage()  # what all recorded proposals have cost
        self._file: BinaryIO | None = None
        self._watch = Stopwatch()
        if folder is not None:
            for line in self._open(folder):
                self._index(line)
        self.append(Opened())

    def _open(self, folder: Path) -> list[Line]:
        self._file = open_lines(folder / EVENTS)
        try:
            return list(read_events(folder))
        except RecordError:
            self.close()
            raise

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, event: Line) -> None:
        """Write one part and hand it to the operating system before returning."""
        stamped = msgspec.structs.replace(event, t=round(self._clock(), 3))
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
        """Wall seconds of all the processes that worked on the run, the pauses between them left out."""
        return self._watch.seconds

    @property
    def seconds_now(self) -> float:
        """``seconds`` as they would be if a line were written now."""
        return self._watch.seconds_at(self._clock())

    def close(self) -> None:
        """Give up the folder's lock."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_events(folder: Path) -> Iterator[Line]:
    """The recorded lines in the order they were written; a torn last line is left out.

    Raises RecordError for a damaged line in the middle, naming it.
    """
    lines = (folder / EVENTS).read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            yield _decode.decode(in_words_of_today(line))
        except msgspec.MsgspecError as error:
            raise RecordError(
                f"{folder / EVENTS}, line {number} is damaged ({error}); "
                f"keep the {number - 1} lines before it, or start again with another folder"
            ) from error


def seconds_spent(folder: Path) -> float:
    """``Record.seconds`` of a run folder, without opening it for writing."""
    watch = Stopwatch()
    for line in read_events(folder):
        watch.see(line)
    return watch.seconds


@final
class Stopwatch:
    """Adds up the time between each process's first line and its last, shown all lines in order."""

    def __init__(self) -> None:
        self._past = self._started = self._last = 0.0

    def see(self, line: Line) -> None:
        if isinstance(line, Opened):
            self._past, self._started = self.seconds, line.t
        self._last = line.t

    @property
    def seconds(self) -> float:
        return self.seconds_at(self._last)

    def seconds_at(self, now: float) -> float:
        return self._past + now - self._started


def read_header(folder: Path) -> dict[str, Any]:
    """What ``run.toml`` says; empty where there is no run yet.  RecordError where it cannot be read."""
    path = folder / HEADER
    return header_in(path) if path.exists() else {}


def header_in(path: Path) -> dict[str, Any]:
    """What the TOML file of a run, or of a bench, says; RecordError where it cannot be read."""
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}; give a folder that this user may read") from error
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, or a number of thousands of digits
        raise RecordError(
            f"cannot read {path}: {path.name} is damaged ({error}); mend that line, or choose another --out"
        ) from error


def check_header(folder: Path, header: Mapping[str, object], may_change: frozenset[str]) -> None:
    """Write ``run.toml``, or compare it with the one that is there.

    Raises RecordError when the folder belongs to another run: what differs is named, keys in ``may_change`` apart.
    """
    path = folder / HEADER
    if path.exists():
        _compare(folder, read_header(folder), tomllib.loads(tomli_w.dumps(dict(header))), may_change)
    write_whole(path, tomli_w.dumps(dict(header)).encode())


def _compare(folder: Path, old: Mapping[str, object], new: Mapping[str, object], may_change: frozenset[str]) -> None:
    keys = sorted((old.keys() | new.keys()) - may_change)
    differing = [_difference(key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]
    if differing:
        raise RecordError(
            f"{folder} holds another run ({'; '.join(differing)}); choose another --out, or repeat the first command"
        )


def _difference(key: str, old: object, new: object) -> str:
    if key == "digest":
        return "the problem has changed since: its program, tests, checker, limits or flags"
    return f"{key} was {old!r}, now {new!r}"
