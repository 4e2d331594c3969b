"""Ask and tell: a run whose policy is whoever reads a prompt and writes an answer.

    maxcode optimize PROBLEM --policy ask --out RUN      admits the problem, writes the first prompts, and ends
    maxcode ask RUN                                      prints an open prompt with its id
    maxcode tell RUN ID FILE                             evaluates the answer, and goes on as far as answers reach
    maxcode tell RUN --finish                            answers all open prompts with "no further gain"

Search, budget, record and resume are those of any run: a step of it ends where an answer is missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import msgspec

from maxcode.core.confined import is_confined, refuse_outside
from maxcode.core.files import locked, read_file, read_text, write_whole
from maxcode.core.jsonl import DAMAGED
from maxcode.core.types import Action, Evaluation, Observation, Outcome, Problem, StateId, Step
from maxcode.errors import AnswerError, InputError, Unanswered
from maxcode.llm.questions import LEASE_S, Question, Questions
from maxcode.observe.feedback import feedback_lines
from maxcode.policy.llm import NO_GAIN_ANSWER, Llm
from maxcode.run.answers import Wanted, texts_asked_for, wanted_of, why_unusable
from maxcode.run.names import ASK
from maxcode.run.record import Evaluated, Proposed, Settled, read_events
from maxcode.run.report import RESULT
from maxcode.run.request import Request

_FOLDER, _REQUEST, _LOCK, _FINISHED, _REACHED = "asked", "request.json", "lock", "finished", "reached"
REFUSALS = 2  # answers that cannot be used, and leave their prompt open; the next one counts as a candidate

Go = Callable[[Request], Any]


@final
@dataclass(frozen=True, slots=True)
class Told:
    """What became of an answer, and of the run.

    ``feedback``   the lines that later prompts show of it, and what came of its race against the best program; empty if
                   it was not evaluated yet
    ``open``       how many prompts wait for an answer
    ``result``     the result of the run, once its budget or its search has ended
    ``stays_open`` whether the answer asked to see more: then ``feedback`` shows it, and the prompt waits for an answer
    """

    feedback: tuple[str, ...]
    open: int
    result: Any = None
    stays_open: bool = False


@final
@dataclass(frozen=True, slots=True)
class Asking:
    """The policy of a run that asks.  Beside each prompt it keeps what the program to improve changes of the original,
    so that ``tell`` knows whether the edits of an answer fit."""

    questions: Questions
    llm: Llm

    async def propose(self, observation: Observation) -> Action:
        """The answer to the prompt of an observation; Unanswered if there is none yet."""
        own, files = observation.state.problem.program.files, observation.state.program.files
        self.questions.keep_program(
            observation.draw, {path: one for path, one in files.items() if own.get(path) != one}
        )
        return await self.llm.propose(observation)


def asked_policy(request: Request) -> Asking:
    """The policy of a run that asks."""
    assert request.out is not None
    questions = Questions(request.out / _FOLDER)
    return Asking(questions, Llm(questions, request.answer))


def refuse_untellable(request: Request) -> None:
    """InputError for what a run that asks cannot have, because ``tell`` goes on with what its folder says, and a folder
    may come from anybody: code of the user, a command, an address, a set-up.  A server's client may not choose a critic
    that costs money, or a branch, either."""
    critic, settings = request.critic.partition(":")[0], request.overrides
    is_paid = is_confined() and critic == "llm"
    wrong = {
        "policy": request.policy if request.policy != ASK else None,
        "critic": request.critic if is_paid or critic not in ("", "rules", "llm") else None,
        "replay": request.replay,
        "base_url": request.models.base_url,
        "cluster": request.cluster if not request.cluster.startswith("local:") else None,
        "branch": request.branch if is_confined() else None,
        **{key: settings.get(key) for key in ("setup", "show", "repo")},
    }
    for name, value in wrong.items():
        if value:
            raise InputError(
                f"a run that asks (--policy ask) cannot have {name} = '{value}', because its folder may come from "
                "anybody; begin a run without it"
            )


def keep_request(request: Request, problem: Problem) -> None:
    """Keeps what ``tell`` needs to read an answer, and to go on with the run, from any folder."""
    assert request.out is not None
    folder = request.out / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    kept = _Kept(Path.cwd(), request, wanted_of(problem, request.answer))
    write_whole(folder / _REQUEST, msgspec.json.encode(kept, enc_hook=str))


def ask(run: Path, lease_s: float = LEASE_S, name: str = "") -> Question | None:
    """An open prompt of a run, which no other caller gets for ``lease_s`` seconds; None if there is none at the moment.
    With ``name`` that prompt, whoever has it.  InputError if the run does not ask, or has no such prompt."""
    return _questions(run).again(name) if name else _questions(run).take(lease_s)


def waiting(run: Path) -> list[str]:
    """The ids of the prompts without an answer, those that others have among them."""
    return _questions(run).open()


def state_of(run: Path) -> Literal["asking", "evaluating", "ended", "interrupted"]:
    """What a run is at: prompts are open, a `tell` goes on with it, it has its result, or it was cut off."""
    if waiting(run):
        return "asking"
    with locked(run / _FOLDER / _LOCK, wait=False) as is_mine:
        if not is_mine:
            return "evaluating"
    return "ended" if (run / RESULT).exists() else "interrupted"


def tell(run: Path, name: str, answer: str, go: Go) -> Told:
    """Keeps the answer to the prompt ``name``, and goes on with the run by ``go`` as far as answers reach.

    Answers that are told at once are evaluated one after the other, by one of the calls; the others find it done.
    After an interruption the same call goes on.
    An answer that asks to see more of a repository gets that as feedback, and its prompt stays open.
    InputError if the run does not ask or the answer cannot be kept; AnswerError for an answer that cannot be used
    (``answers.py``), up to ``REFUSALS`` times a prompt: it stays open; else as ``optimize_source``.
    """
    _refuse_no_text(answer)
    run = run.resolve()
    questions = _questions(run)
    wanted = _kept(run).wanted
    if answer.strip() and name in questions.open() and wanted is not None:
        program = wanted.program(questions.program(name))
        if texts := texts_asked_for(answer, wanted, program):
            return Told((texts,), len(questions.open()), stays_open=True)
        if why := why_unusable(answer, wanted, program):
            _refuse(questions, name, why)
    if not questions.may_hold(name, answer) and state_of(run) == "ended":
        raise InputError(
            f"the run has ended, and takes no more answers: its result is in {run / RESULT}; to try more, start "
            "another run, with another --out"
        )
    questions.answer(name, answer)
    told = _gone_on(run, go, lambda: name in _reached(run) and _feedback(run, answer))
    return replace(told, feedback=_feedback(run, answer))


def _refuse_no_text(answer: str) -> None:
    """Raises InputError for what no file can hold: half of a character, which JSON can name."""
    try:
        answer.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"character {error.start} of the answer is half of one ({answer[error.start]!r}); write the whole character"
        ) from error


def _refuse(questions: Questions, name: str, why: str) -> None:
    """Raises AnswerError for an answer that cannot be used, while there are refusals left."""
    count = questions.refused(name)
    if count <= REFUSALS:
        after = "the next one that cannot be used counts" if count == REFUSALS else "nothing is used up"
        then = "\n" if "\n" in why else "; "
        raise AnswerError(
            f"the answer gives no candidate: {why}{then}the prompt {name} stays open, {after}: answer it again in the "
            f"form that it asks for, or with {NO_GAIN_ANSWER}"
        )


def finish(run: Path, go: Go) -> Told:
    """Answers every open prompt with "no further gain" until the run ends; its winner is confirmed and certified.
    Raises as ``tell``."""
    told, questions = Told((), 0), _questions(run)
    _kept(run)  # before anything is answered
    if (many := len(questions.open())) and not (run / _FOLDER / _FINISHED).exists():
        write_whole(run / _FOLDER / _FINISHED, f"{many}".encode())
    while told.result is None:
        questions.answer_open(NO_GAIN_ANSWER)
        told = _gone_on(run, go)
        if told.result is None and not told.open:
            raise InputError(f"{run} has no open prompt and does not end; repeat the command that began it")
    return told


def why_ended(request: Request, ended: str) -> str:
    """``ended``, or that the user finished the run: the answers that are then given in the user's place say nothing of
    the programs."""
    path = request.out / _FOLDER / _FINISHED if request.policy == ASK and request.out is not None else None
    if path is None or not path.exists():
        return ended
    many = read_text(path)
    return f"finished by the user (maxcode tell RUN --finish) with {many} prompt{'s' * (many != '1')} open"


def _gone_on(run: Path, go: Go, is_done: Callable[[], object] = lambda: False) -> Told:
    """Goes on with the run; not if ``is_done`` and prompts are open: then the run would only be admitted again."""
    run = run.resolve()
    kept = _kept(run)
    with locked(run / _FOLDER / _LOCK), chdir(kept.started_in):  # after any other `tell`
        if is_done() and waiting(run):
            return Told((), len(waiting(run)))
        answered = [name for name, _ in _questions(run).answers()]
        try:
            result = go(replace(kept.request, out=run))
        except Unanswered:
            write_whole(run / _FOLDER / _REACHED, "\n".join(answered).encode())
            result = None
    return Told((), len(waiting(run)), result)


def _reached(run: Path) -> list[str]:
    """The prompts whose answers were there when the run last went on."""
    path = run / _FOLDER / _REACHED
    return read_text(path).split() if path.exists() else []


def _questions(run: Path) -> Questions:
    if not (run / _FOLDER / _REQUEST).exists():
        raise InputError(f"{run} is no run that asks; start one: maxcode optimize PROBLEM --policy ask --out {run}")
    refuse_outside(run / _FOLDER, "the folder of prompts")
    return Questions(run / _FOLDER)


@final
@dataclass(frozen=True, slots=True)
class _Kept:
    """The request of a run, whose relative paths begin in ``started_in``.  ``wanted``: what an answer must hold; None
    in a run of an earlier version."""

    started_in: Path
    request: Request
    wanted: Wanted | None = None


def _kept(run: Path) -> _Kept:
    path = run / _FOLDER / _REQUEST
    try:
        found = msgspec.json.decode(read_file(path), type=_Kept, dec_hook=lambda kind, name: kind(name))
    except DAMAGED as error:
        raise InputError(f"{path} is no request of a run that asks ({error}); begin the run again") from error
    refuse_untellable(found.request)
    refuse_outside(found.started_in, "the folder in which the run was begun,")
    if not (found.started_in.is_dir() and os.access(found.started_in, os.X_OK)):
        raise InputError(
            f"{run} was begun in {found.started_in}, which is not there any more or cannot be entered; repeat the "
            f"command that began it where its problem is now, with --out {run}"
        )
    return found


def _feedback(run: Path, answer: str) -> tuple[str, ...]:
    """The lines on the newest candidate that is this answer."""
    at: StateId | None = None
    action: Action | None = None
    evaluation: Evaluation | None = None
    best: Evaluation | None = None  # the one that was confirmed last, of another program
    settled = False
    for line in read_events(run):
        if isinstance(line, Proposed) and line.action.completion == answer:
            at, action, evaluation, settled = line.at, line.action, None, False
        elif isinstance(line, Evaluated) and line.at == at:
            evaluation = line.evaluation
        elif isinstance(line, Settled):
            for slot, anew in line.evaluations.items():
                if (line.batch, slot) == at:
                    evaluation = anew
                elif anew.timing is not None and anew.timing.confirmed:
                    best = anew
            settled = settled or (at is not None and line.batch == at[0])
    if action is None:
        return ()
    if evaluation is None:
        return ("=> no further gain",) if action.no_gain else ()
    return (*feedback_lines(Step(action, evaluation, 0.0), None), *_standing(evaluation, best, settled))


def _standing(now: Evaluation, best: Evaluation | None, settled: bool) -> tuple[str, ...]:
    """What is known of a correct program against the best one."""
    if now.outcome is not Outcome.CORRECT or now.timing is None or now.timing.confirmed:
        return ()
    if not settled:
        return ("a first estimate: the fastest of this batch is confirmed when the last of its prompts is answered",)
    if best is None or best.timing is None:
        return ()
    return (
        f"the best program stays the one with {best.timing.speedup}: this one was not confirmed to be faster than it",
    )
