"""The journal of model calls: ``calls.jsonl`` in the run folder, one line per call, written the moment it is answered.

A call is known by its content: model name, messages, parameters and draw.  The same call again is answered from the
journal and not paid, whoever asks; two that are under way at once are asked once.  Answers stay on disk, and only where
each one lies is kept in memory, so that a call costs the same after ten thousand others.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, final

import anyio
import msgspec

from maxcode.core.jsonl import append_line, open_lines
from maxcode.core.types import Usage
from maxcode.errors import BoundaryError, ProviderError, RecordError
from maxcode.llm.clients import Completion, Model, ModelRequest

CALLS = "calls.jsonl"


class Call(msgspec.Struct, frozen=True, kw_only=True, tag_field="call", tag=str.lower):
    """One line.  ``t`` is the Unix time at which it was written; it takes no part in any decision."""

    key: str
    model: str
    t: float = 0.0


class Answered(Call, frozen=True):
    """A model answered."""

    request: ModelRequest
    completion: Completion


class Failed(Call, frozen=True):
    """A provider failed for good.  Never answers anything."""

    draw: int
    error: str


class _Cost(msgspec.Struct):
    usage: Usage


class _Draw(msgspec.Struct):
    draw: int


class _Glance(msgspec.Struct):
    """What opening a journal needs of a line."""

    call: str
    key: str
    model: str
    request: _Draw | None = None
    completion: _Cost | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answered).decode
_decode_any = msgspec.json.Decoder(Answered | Failed).decode
_glance = msgspec.json.Decoder(_Glance).decode


def key_of(name: str, request: ModelRequest) -> str:
    """The content of a call, hashed."""
    return hashlib.blake2b(_encode((name, request)), digest_size=16).hexdigest()


@final
class _Pending:
    """A call that is under way; ``error`` is set where it failed for good."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.error: BoundaryError | None = None


@final
class _Lines:
    """A file of calls and where in it each answer lies."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.places: dict[bytes, tuple[int, int]] = {}
        self.draws: dict[tuple[str, int], bytes] = {}
        self.models: set[str] = set()
        self.spent = Usage()
        self.failures = 0
        self.size = 0

    def index(self, path: Path) -> None:
        """Read the lines that are there; a torn last line is left out."""
        with open(path, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._note(_glance(line), len(line))
                except (msgspec.MsgspecError, ValueError) as error:  # the latter for what is no UTF-8, or no key
                    raise RecordError(
                        f"{path}, line {number} is damaged ({error}); keep the {number - 1} lines before it, or start "
                        "again with another folder"
                    ) from error

    def _note(self, line: _Glance, length: int) -> None:
        if line.completion is not None:
            self.places[bytes.fromhex(line.key)] = (self.size, length)
            if line.request is not None:
                self.draws.setdefault((line.model, line.request.draw), bytes.fromhex(line.key))
            self.spent += line.completion.usage
            self.models.add(line.model)
        else:
            self.failures += 1
        self.size += length

    def append(self, call: Answered | Failed) -> None:
        """Write one line and hand it to the operating system before returning."""
        line = _encode(call)
        append_line(self.file, line, CALLS)
        cost = _Cost(call.completion.usage) if isinstance(call, Answered) else None
        self._note(_Glance("", call.key, call.model, None, cost), len(line) + 1)

    def find(self, key: str) -> Completion | None:
        found = self._at(bytes.fromhex(key))
        return found.completion if found is not None else None

    def find_draw(self, model: str, request: ModelRequest) -> Completion | None:
        """The first answer of a model to the draw of a request, whatever it was told, asked in the same way."""
        found = self._at(self.draws.get((model, request.draw), b""))
        return found.completion if found is not None and _manner(found.request) == _manner(request) else None

    def _at(self, key: bytes) -> Answered | None:
        place = self.places.get(key)
        if place is None:
            return None
        self.file.seek(place[0])
        try:
            return _decode(self.file.read(place[1]))
        except (msgspec.MsgspecError, ValueError) as error:
            raise RecordError(
                f"{CALLS} is damaged at byte {place[0]} ({error}); remove that line, or start again with another folder"
            ) from error


@final
class Journal:
    """The calls of a run, kept in ``folder`` (None: in memory), locked until closed.

    With ``replay``, another run's folder, answers come from that run alone, nothing is asked and nothing is paid.  A
    prompt holds measured numbers, which a second run measures anew: so where no call is the same to the letter, the
    answer to the same draw with the same system message and parameters is taken, which is that of the same slot;
    ``loosely`` counts how often.  Whether it is a run of the same problem is for the caller to see to.
    Raises RecordError for a journal that is damaged, in use, or not there to be replayed.
    """

    def __init__(
        self, folder: Path | None = None, replay: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._pending: dict[str, _Pending] = {}
        self.replay = replay
        self.loosely = 0
        self._past = _past(replay) if replay is not None else None
        self._lines = _opened(folder) if folder is not None else _Lines(io.BytesIO())

    def keep_in(self, folder: Path) -> None:
        """From now on calls are kept in ``folder``, and those that are there already answer and count."""
        self._lines.file.close()
        self._lines = _opened(folder)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up the file and its lock."""
        self._lines.file.close()
        if self._past is not None:
            self._past.file.close()

    @property
    def spent(self) -> Usage:
        """What this run has paid for so far, in all its processes; answers taken from the journal are not in it."""
        return self._lines.spent

    @property
    def under_way(self) -> int:
        """How many calls are being asked now; a budget counts them too."""
        return len(self._pending)

    @property
    def failures(self) -> int:
        """How many calls failed for good."""
        return self._lines.failures

    def find(self, key: str) -> Completion | None:
        """The answer to the call with this key, None where there is none."""
        return (self._past or self._lines).find(key)

    async def answer(self, name: str, request: ModelRequest, model: Model) -> Completion:
        """The answer to ``request``: the recorded one, that of the same call under way, or a new one from ``model``."""
        key = key_of(name, request)
        while (found := self.find(key)) is None:
            pending = self._pending.get(key)
            if pending is None:
                return await self._ask(key, name, request, model)
            await pending.done.wait()
            if pending.error is not None:
                raise type(pending.error)(str(pending.error)) from pending.error
        return found

    async def _ask(self, key: str, name: str, request: ModelRequest, model: Model) -> Completion:
        if self._past is not None:
            if (same := self._past.find_draw(name, request)) is None:
                raise _missing(self._past, self.replay, name, request)
            self.loosely += 1
            return same
        pending = self._pending[key] = _Pending()
        try:
            completion = await model.complete(request)
            self._lines.append(Answered(key=key, model=name, request=request, completion=completion, t=self._now()))
        except BoundaryError as error:
            pending.error = error
            if isinstance(error, ProviderError):
                self._lines.append(Failed(key=key, model=name, draw=request.draw, error=str(error), t=self._now()))
            raise
        finally:
            del self._pending[key]
            pending.done.set()
        return completion

    def _now(self) -> float:
        return round(self._clock(), 3)


@final
class Journalled:
    """A model whose answers are kept: asked for what the journal does not know."""

    def __init__(self, model: Model, name: str, journal: Journal) -> None:
        self._model = model
        self._name = name
        self._journal = journal

    async def complete(self, request: ModelRequest) -> Completion:
        return await self._journal.answer(self._name, request, self._model)


@final
class NoModel:
    """Stands where a model would in a replay, which needs neither key nor endpoint."""

    async def complete(self, request: ModelRequest) -> Completion:
        raise ProviderError(f"a replay asks no model, and draw {request.draw} is not recorded")


def _manner(request: ModelRequest) -> ModelRequest:
    """The request without what was said, but for the system message."""
    return replace(request, messages=tuple(said for said in request.messages if said.role == "system"))


def _missing(past: _Lines, replay: Path | None, name: str, request: ModelRequest) -> ProviderError:
    opening = request.messages[-1].text[:60] if request.messages else ""
    return ProviderError(
        f"{replay} holds no answer of {name} to draw {request.draw} of the prompt that begins {opening!r} "
        f"(temperature {request.temperature}, max_tokens {request.max_tokens}, thinking_tokens "
        f"{request.thinking_tokens}); it holds {len(past.places)} of {', '.join(sorted(past.models)) or 'no model'}. "
        "Replay with the problem, seed, method and settings of that run, or leave --replay out to ask the model"
    )


def answers_in(folder: Path) -> Iterator[Answered]:
    """The answered calls of the journal of ``folder`` in the order they were written, one at a time; a torn last line
    is left out.  RecordError where a line is damaged, or there is no journal."""
    if not (folder / CALLS).is_file():
        raise RecordError(f"{folder / CALLS} does not exist: the run asked no language model")
    with open(folder / CALLS, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                call = _decode_any(line)
            except (msgspec.MsgspecError, ValueError) as error:
                raise RecordError(f"{folder / CALLS}, line {number} is damaged ({error}); remove that line") from error
            if isinstance(call, Answered):
                yield call


def spent_in(folder: Path) -> Usage:
    """What the calls in the journal of ``folder`` have cost; RecordError where it is damaged, or not there."""
    lines = _past(folder)
    lines.file.close()
    return lines.spent


def _past(replay: Path) -> _Lines:
    path = replay / CALLS
    if not path.is_file():
        raise RecordError(f"{path} does not exist: give --replay the folder of a run that asked a language model")
    lines = _Lines(open(path, "rb"))  # noqa: SIM115  held for the life of the journal
    return _indexed(lines, path)


def _opened(folder: Path) -> _Lines:
    path = folder / CALLS
    return _indexed(_Lines(open_lines(path)), path)


def _indexed(lines: _Lines, path: Path) -> _Lines:
    try:
        lines.index(path)
    except RecordError:
        lines.file.close()
        raise
    return lines
