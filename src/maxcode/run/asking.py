"""Ask and tell: a run whose policy is whoever reads a prompt and writes an answer.

    maxcode optimize PROBLEM --policy ask --out RUN      admits the problem, writes the first prompts, and ends
    maxcode ask RUN                                      prints an open prompt with its id
    maxcode tell RUN ID FILE                             evaluates the answer, and goes on as far as answers reach

Search, budget, record and resume are those of any run: a step of it ends where an answer is missing.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import msgspec

from maxcode.core.files import read_file, write_whole
from maxcode.core.types import Action, Evaluation, StateId, Step
from maxcode.errors import InputError, Unanswered
from maxcode.llm.questions import LEASE_S, Question, Questions
from maxcode.observe.feedback import feedback_lines
from maxcode.policy.llm import Llm
from maxcode.run.record import Evaluated, Proposed, read_events
from maxcode.run.request import Request

_FOLDER, _REQUEST, _LOCK = "asked", "request.json", "lock"

Go = Callable[[Request], Any]


@final
@dataclass(frozen=True, slots=True)
class Told:
    """What became of an answer, and of the run.

    ``feedback``   the lines that later prompts show of it; empty if it was not evaluated yet
    ``open``       how many prompts wait for an answer
    ``result``     the result of the run, once its budget or its search has ended
    """

    feedback: tuple[str, ...]
    open: int
    result: Any = None


def asked_policy(request: Request) -> Llm:
    """The policy of a run that asks."""
    assert request.out is not None
    return Llm(Questions(request.out / _FOLDER), request.answer)


def keep_request(request: Request) -> None:
    """Keeps what ``tell`` needs to go on with the run from any folder."""
    assert request.out is not None
    folder = request.out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _REQUEST, msgspec.json.encode(_Kept(Path.cwd(), request), enc_hook=str))


def ask(run: Path, lease_s: float = LEASE_S) -> Question | None:
    """An open prompt of a run, which no other caller gets for ``lease_s`` seconds; None if there is none at the moment.
    InputError if the run does not ask."""
    return _questions(run).take(lease_s)


def tell(run: Path, name: str, answer: str, go: Go) -> Told:
    """Keeps the answer to the prompt ``name``, and goes on with the run by ``go`` as far as answers reach.

    Answers that are told at once are evaluated one after the other.  After an interruption the same call goes on.
    InputError if the run does not ask or the answer cannot be kept; else as ``optimize_source``.
    """
    run = run.resolve()
    questions, kept = _questions(run), _kept(run)
    questions.answer(name, answer)
    result = None
    with _alone(run), chdir(kept.started_in), suppress(Unanswered):
        result = go(replace(kept.request, out=run))
    return Told(_feedback(run, answer), len(questions.open()), result)


def _questions(run: Path) -> Questions:
    if not (run / _FOLDER / _REQUEST).exists():
        raise InputError(f"{run} is no run that asks; start one: maxcode optimize PROBLEM --policy ask --out {run}")
    return Questions(run / _FOLDER)


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """The request of a run, whose relative paths begin in ``started_in``."""

    started_in: Path
    request: Request


def _kept(run: Path) -> _Kept:
    text = read_file(run / _FOLDER / _REQUEST)
    return msgspec.json.decode(text, type=_Kept, dec_hook=lambda kind, path: kind(path))


@contextmanager
def _alone(run: Path) -> Iterator[None]:
    """Waits until no other ``tell`` goes on with the run."""
    with (run / _FOLDER / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _feedback(run: Path, answer: str) -> tuple[str, ...]:
    """The lines on the newest candidate that is this answer."""
    at: StateId | None = None
    action: Action | None = None
    evaluation: Evaluation | None = None
    for line in read_events(run):
        if isinstance(line, Proposed) and line.action.completion == answer:
            at, action, evaluation = line.at, line.action, None
        elif isinstance(line, Evaluated) and line.at == at:
            evaluation = line.evaluation
    if action is None:
        return ()
    if evaluation is None:
        return ("=> no further gain",) if action.no_gain else ()
    return tuple(feedback_lines(Step(action, evaluation, 0.0), None))
