"""The journal of model calls: ``calls.jsonl`` in the run folder, one line per call, written as soon as it is answered.

A call is identified by its content: model name, messages, parameters and draw.  The journal answers a repeated call,
which then costs nothing; two equal calls at the same time are sent once.  Answers stay on disk, and memory holds only
their positions, so that the cost of a call does not grow with the journal.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, final

import anyio
import msgspec

from maxcode.core.files import opened
from maxcode.core.jsonl import LINES, append_line, open_lines
from maxcode.core.types import Usage
from maxcode.errors import BoundaryError, NotRecordedError, ProviderError, RecordError
from maxcode.llm.clients import Completion, Model, ModelRequest

CALLS = "calls.jsonl"


class Call(msgspec.Struct, frozen=True, kw_only=True, tag_field="call", tag=str.lower):
    """One line.  ``t``: the Unix time at which it was written; no decision uses it."""

    key: str
    model: str
    t: float = 0.0


class Answered(Call, frozen=True):
    """A model answered."""

    request: ModelRequest
    completion: Completion


class Failed(Call, frozen=True):
    """A provider failed, and no attempt is left.  It never answers a call."""

    draw: int
    error: str


class _Cost(msgspec.Struct):
    usage: Usage


class _Draw(msgspec.Struct):
    draw: int
    messages: tuple[msgspec.Raw, ...] = ()


class _Glance(msgspec.Struct):
    """The part of a line that opening a journal needs."""

    call: str
    key: str
    model: str
    request: _Draw | None = None
    completion: _Cost | None = None


_SENTENCE = re.compile(r"(?<=[.?!])\s")
_UNUSED = ("effort", "extra_body", "files")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answered).decode
_decode_any = msgspec.json.Decoder(Answered | Failed).decode
_glance = msgspec.json.Decoder(_Glance).decode


def key_of(name: str, request: ModelRequest) -> str:
    """The hash of the content of a call.  A setting that is not used is left out, so that older journals answer."""
    content = {key: value for key, value in msgspec.to_builtins(request).items() if value or key not in _UNUSED}
    return hashlib.blake2b(_encode((name, content)), digest_size=16).hexdigest()


@final
class _Pending:
    """A call in progress; ``error`` is set if it failed."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.error: BoundaryError | None = None


@final
class _Lines:
    """A file of calls and the position of each answer in it."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.places: dict[bytes, tuple[int, int]] = {}
        self.draws: dict[tuple[str, int, int], bytes] = {}  # by model, draw and the number of messages
        self.models: set[str] = set()
        self.spent = Usage()
        self.failures = 0
        self.size = 0

    def index(self, path: Path) -> None:
        """Reads the existing lines; a torn last line is left out."""
        with opened(path, LINES) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self._note(_glance(line), len(line))
                except (msgspec.MsgspecError, ValueError) as error:  # ValueError: invalid UTF-8, or no valid key
                    raise RecordError(
                        f"{path}, line {number} is damaged ({error}); keep the {number - 1} lines before it, or start "
                        "again with another folder"
                    ) from error

    def _note(self, line: _Glance, length: int) -> None:
        if line.completion is not None:
            self.places[bytes.fromhex(line.key)] = (self.size, length)
            if line.request is not None:
                asked = (line.model, line.request.draw, len(line.request.messages))
                self.draws.setdefault(asked, bytes.fromhex(line.key))
            self.spent += line.completion.usage
            self.models.add(line.model)
        else:
            self.failures += 1
        self.size += length

    def append(self, call: Answered | Failed) -> None:
        """Writes one line to the operating system before it returns."""
        line = _encode(call)
        append_line(self.file, line, CALLS)
        cost = _Cost(call.completion.usage) if isinstance(call, Answered) else None
        self._note(_Glance("", call.key, call.model, None, cost), len(line) + 1)

    def find(self, key: str) -> Completion | None:
        answered = self._at(bytes.fromhex(key))
        return answered.completion if answered is not None else None

    def find_draw(self, model: str, request: ModelRequest) -> Completion | None:
        """The first answer of a model to the draw of a request, with as many messages, the same parameters and the same
        first sentence of the system message; the rest may differ."""
        answered = self._at(self.draws.get((model, request.draw, len(request.messages)), b""))
        return answered.completion if answered is not None and _manner(answered.request) == _manner(request) else None

    def find_unused(self, model: str, request: ModelRequest, used: Set[str]) -> Completion | None:
        """The first answer of a model, in the order written, that is not ``used``, likewise."""
        turns = len(request.messages)
        alike = (one for one in self.alike(model, request) if len(one.request.messages) == turns)
        return next((one.completion for one in alike if one.completion.text not in used), None)

    def alike(self, model: str, request: ModelRequest) -> Iterator[Answered]:
        """The calls of a model with the same parameters and the same first sentence of the system message."""
        answers = (self._at(key) for (name, _, _), key in self.draws.items() if name == model)
        return (one for one in answers if one is not None and _manner(one.request) == _manner(request))

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
    """The calls of a run in ``folder`` (None: in memory), locked until closed.

    With ``replay``, the folder of another run, all answers come from that run; no model is called and nothing is paid.
    A prompt contains measured numbers, and a second run measures other ones; a later version words its instructions in
    another way.  So if no recorded call is identical, the journal takes the answer to the same draw with the same
    parameters and the same first sentence of the system message, which is that of the same slot; ``loosely`` counts
    these.  The search may expand another candidate than the recorded one, because that is the
    fastest here.  Then the answers to the recorded one of that batch are taken, else the next one that this run has not
    used; ``elsewhere`` counts these.  The caller checks that both runs are on the same problem.
    RecordError if the journal is damaged or in use, or if the journal to replay does not exist.
    """

    def __init__(
        self, folder: Path | None = None, replay: Path | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._pending: dict[str, _Pending] = {}
        self.replay = replay
        self.loosely = 0
        self.elsewhere = 0
        self._unanswered: set[int] = set()  # draws of slots that the recorded run did not ask for
        self._used: set[str] = set()  # replayed answers
        self._past = _past(replay) if replay is not None else None
        self._lines = _opened(folder) if folder is not None else _Lines(io.BytesIO())

    def keep_in(self, folder: Path) -> None:
        """Keeps calls in ``folder`` from now on; the calls already in it answer and count."""
        self._lines.file.close()
        self._lines = _opened(folder)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file and releases its lock."""
        self._lines.file.close()
        if self._past is not None:
            self._past.file.close()

    @property
    def spent(self) -> Usage:
        """The usage that this run has paid for so far, resumes included; answers from the journal cost nothing."""
        return self._lines.spent

    @property
    def under_way(self) -> int:
        """The number of calls in progress; a budget counts them too."""
        return len(self._pending)

    @property
    def failures(self) -> int:
        """The number of calls that failed after all attempts."""
        return self._lines.failures

    def find(self, key: str) -> Completion | None:
        """The answer to the call with this key; None if there is none."""
        return (self._past or self._lines).find(key)

    def drawn(self, draws: Sequence[int]) -> int:
        """The draw of a slot: the first of ``draws``; in a replay the first that the recorded run asked for."""
        if self._past is None:
            return draws[0]
        recorded = {draw for _, draw, _ in self._past.draws}
        found = next((draw for draw in draws if draw in recorded), None)
        self.elsewhere += found != draws[0]
        if found is None:
            self._unanswered.add(draws[0])
            return draws[0]
        return found

    def has_used(self, completions: Iterable[str]) -> None:
        """Tells a replay which answers the run that it goes on with holds already."""
        self._used.update(completions)

    async def answer(self, name: str, request: ModelRequest, model: Model) -> Completion:
        """The answer to ``request``: the recorded one, that of an equal call in progress, or a new one of ``model``."""
        key = key_of(name, request)
        while (completion := self.find(key)) is None:
            pending = self._pending.get(key)
            if pending is None:
                completion = await self._ask(key, name, request, model)
                break
            await pending.done.wait()
            if pending.error is not None:
                raise type(pending.error)(str(pending.error)) from pending.error
        if self._past is not None:
            self._used.add(completion.text)
        return completion

    async def _ask(self, key: str, name: str, request: ModelRequest, model: Model) -> Completion:
        if self._past is not None:
            same = self._past.find_draw(name, request)
            if same is None and request.draw in self._unanswered:
                same = self._past.find_unused(name, request, self._used)
            if same is None:
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
    """A model behind a journal: it is called only if the journal has no answer."""

    def __init__(self, model: Model, name: str, journal: Journal) -> None:
        self._model = model
        self._name = name
        self._journal = journal

    async def complete(self, request: ModelRequest) -> Completion:
        return await self._journal.answer(self._name, request, self._model)


@final
class NoModel:
    """Takes the place of a model in a replay, which needs neither key nor endpoint."""

    async def complete(self, request: ModelRequest) -> Completion:
        raise ProviderError(f"a replay calls no model, and the answer to draw {request.draw} is not recorded")


def _manner(request: ModelRequest) -> ModelRequest:
    """The request without its draw, with only the first sentence of its system messages: it says who is asked, a policy
    or a critic.  What follows are instructions, which a later version words in another way."""
    system = (said for said in request.messages if said.role == "system")
    return replace(
        request, messages=tuple(replace(said, text=_SENTENCE.split(said.text)[0]) for said in system), draw=0
    )


def _missing(past: _Lines, replay: Path | None, name: str, request: ModelRequest) -> ProviderError:
    kind = NotRecordedError if next(past.alike(name, request), None) is not None else ProviderError
    opening = request.messages[-1].text[:60] if request.messages else ""
    return kind(
        f"{replay} holds no answer of {name} to draw {request.draw} of the prompt that begins {opening!r} "
        f"(temperature {request.temperature}, max_tokens {request.max_tokens}, thinking_tokens "
        f"{request.thinking_tokens}); it holds {len(past.places)} of {', '.join(sorted(past.models)) or 'no model'}. "
        "Replay with the problem, seed, method and settings of that run, or leave --replay out to ask the model"
    )


def answers_in(folder: Path) -> Iterator[Answered]:
    """Yields the answered calls of the journal of ``folder`` in the order written; a torn last line is left out.
    RecordError if a line is damaged, or if there is no journal."""
    if not (folder / CALLS).is_file():
        raise RecordError(f"{folder / CALLS} does not exist: the run asked no language model")
    with opened(folder / CALLS, LINES) as lines:
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
    """The cost of the calls in the journal of ``folder``; RecordError if it is damaged or missing."""
    lines = _past(folder)
    lines.file.close()
    return lines.spent


def _past(replay: Path) -> _Lines:
    path = replay / CALLS
    if not path.is_file():
        raise RecordError(f"{path} does not exist: give --replay the folder of a run that asked a language model")
    lines = _Lines(opened(path, LINES))  # open as long as the journal
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
