"""A folder of open prompts and their answers: whoever reads a prompt and writes an answer is the model.

A prompt is identified by its draw, which belongs to one slot of a search: a resumed run measures anew, so its prompts
differ in some figures and are the same questions.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.files import locked, read_text, write_whole
from maxcode.core.types import Usage
from maxcode.errors import InputError, Unanswered
from maxcode.llm.clients import Completion, ModelRequest

PROMPT, TAKEN, ANSWER, REFUSED, PROGRAM = ".prompt", ".taken", ".answer", ".refused", ".program"
_TURN = "turn"  # the lock of whoever takes a prompt or keeps an answer
_AMONG = (
    "\n\nThis is number {} of {} prompts with the same text: several versions of this program are wanted.  Of the "
    "approaches that you expect to be about as fast as the best, choose one that the other answers hardly choose."
)
LEASE_S = 1800.0  # after so many seconds a prompt without an answer is given out again


@final
@dataclass(frozen=True, slots=True)
class Question:
    """A prompt that waits for an answer, with a last line that says how many others have the same text."""

    id: str
    prompt: str


@final
@dataclass(frozen=True, slots=True)
class Questions:
    """The prompts of one run.  As a model: an answered prompt is answered; another one is written into the folder, and
    Unanswered is raised."""

    folder: Path
    clock: Callable[[], float] = time.time

    async def complete(self, request: ModelRequest) -> Completion:
        """The answer to the request, if it was given."""
        name = _name(request.draw)
        answer = self.folder / f"{name}{ANSWER}"
        if answer.exists():
            return Completion(read_text(answer), Usage(1))
        prompt = self.folder / f"{name}{PROMPT}"
        if not prompt.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(prompt, "\n\n".join(one.text.strip() for one in request.messages).encode())
        raise Unanswered(f"the prompt {name} waits for an answer")

    def keep_program(self, draw: int, changed: Mapping[str, str]) -> None:
        """Keeps the files that differ from the original's in the program which the prompt of a draw is about."""
        path = self.folder / f"{_name(draw)}{PROGRAM}"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(dict(changed)).encode())

    def program(self, name: str) -> dict[str, str]:
        """The files that ``keep_program`` kept for a prompt."""
        path = self.folder / f"{name}{PROGRAM}"
        return dict(json.loads(read_text(path))) if path.exists() else {}

    def take(self, lease_s: float = LEASE_S) -> Question | None:
        """The oldest open prompt that nobody took in the last ``lease_s`` seconds; None if there is none."""
        with locked(self.folder / _TURN):
            for name in self.open():
                if self._took(self.folder / f"{name}{TAKEN}", lease_s):
                    return self._question(name)
        return None

    def again(self, name: str) -> Question:
        """A prompt once more, whoever took it.  InputError if there is none of this id that waits for an answer."""
        if name not in self.open():
            raise InputError(f"there is no prompt {name!r} that waits for an answer; there are: {self._waiting()}")
        return self._question(name)

    def open(self) -> list[str]:
        """The ids of the prompts without an answer, the oldest first."""
        return [path.stem for path in self._asked() if not path.with_suffix(ANSWER).exists()]

    def _asked(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{PROMPT}"), key=lambda path: (path.stat().st_mtime_ns, path.name))

    def _question(self, name: str) -> Question:
        text = read_text(self.folder / f"{name}{PROMPT}")
        alike = [path.stem for path in self._asked() if path.stem == name or read_text(path) == text]
        return Question(name, text + _AMONG.format(alike.index(name) + 1, len(alike)) * (len(alike) > 1))

    def refused(self, name: str) -> int:
        """How many answers to a prompt were refused, this one included: one more each time it is asked."""
        path = self.folder / f"{name}{REFUSED}"
        count = 1 + (int(read_text(path)) if path.exists() else 0)
        write_whole(path, str(count).encode())
        return count

    def may_hold(self, name: str, text: str) -> bool:
        """Whether a prompt waits for an answer, or has this one."""
        path = self.folder / f"{name}{ANSWER}"
        return name in self.open() or (path.exists() and read_text(path) == text)

    def answer(self, name: str, text: str) -> None:
        """Keeps an answer.  InputError if there is no such prompt, it has another answer, or the answer is empty."""
        if not (self.folder / f"{name}{PROMPT}").exists():
            raise InputError(f"there is no prompt {name!r}; those that wait for an answer: {self._waiting()}")
        if not text.strip():
            raise InputError("the answer is empty; give the text that a model would answer")
        path = self.folder / f"{name}{ANSWER}"
        with locked(self.folder / _TURN):  # of two answers at once, one must hear that it comes too late
            if path.exists() and read_text(path) != text:
                raise InputError(f"the prompt {name} is answered already; `maxcode ask` gives the next one")
            write_whole(path, text.encode())

    def answer_open(self, text: str) -> None:
        """Keeps this answer to every prompt that has none."""
        with locked(self.folder / _TURN):
            for name in self.open():
                write_whole(self.folder / f"{name}{ANSWER}", text.encode())

    def answers(self) -> Iterator[tuple[str, str]]:
        """The id and the text of every answer."""
        for path in sorted(self.folder.glob(f"*{ANSWER}")):
            yield path.stem, read_text(path)

    def _waiting(self) -> str:
        return ", ".join(self.open()) or "none"

    def _took(self, path: Path, lease_s: float) -> bool:
        """Whether a prompt is free, or its lease has ended: then it is this caller's.  The turn must be held."""
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            if self.clock() - path.stat().st_mtime < lease_s:
                return False
            os.utime(path)
        return True


def _name(draw: int) -> str:
    """The id of the prompt of a draw."""
    return hashlib.sha256(str(draw).encode()).hexdigest()[:8]
