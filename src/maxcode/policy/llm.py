"""The policy that asks a language model: the paper's pi(a|o), a frozen model and a prompt.

    observation -> messages -> model -> completion -> program, or the reason why none could be read

The texts are templates (``llm/prompts/``); this file selects and fills them.  Departures from the paper: its prompts
are not published, so these are ours, with the same three rules (a failed build, a wrong result, a time to beat).
Answers as edits are ours too, because long programs cost tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

from anyio import to_thread

from maxcode.code.source import answer_of, writable
from maxcode.core.types import Action, Observation, Problem, Program
from maxcode.errors import InputError
from maxcode.evaluate.repo.base_text import base_text
from maxcode.llm.clients import Completion, Message, Model, ModelRequest
from maxcode.llm.completion import Answer, Unread, read
from maxcode.llm.completion.shown import MOST_WISHES, ROUNDS, shown, wishes
from maxcode.llm.prompts import filled
from maxcode.llm.prompts.rules import rules_for

NO_GAIN_ANSWER = "NO FURTHER GAIN"
_MORE = "Now answer, or ask once more with lines `SHOW path` alone."
_NO_MORE = "Now answer; nothing more is shown."
_WHAT = {
    "program": "whole program",
    "function": "whole file",
    "module": "whole Python file with `ModelNew`",
    "python": "whole file",
    "repo": "whole file that you change",
}


@final
@dataclass(frozen=True, slots=True)
class Llm:
    """Proposes the answer of a language model.

    Pure in the observation: the draw of the request is that of the observation.  ``answer`` is the requested form;
    ``temperature`` replaces that of the observation; the other settings are those of ``ModelRequest``.  A completion
    without a program gives an action without a program, with its text, its usage and the reason.  Raises ProviderError
    if the provider failed for good.
    """

    model: Model
    answer: Answer = "whole"
    temperature: float | None = None
    max_tokens: int = 16_384
    thinking_tokens: int = 0
    effort: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.answer not in ("whole", "edits"):
            raise InputError(f"answer = '{self.answer}' is not a form of answer; use 'whole' or 'edits'")
        if self.max_tokens < 1:
            raise InputError(
                f"max_tokens = {self.max_tokens} leaves no room for an answer; give enough tokens for a whole program"
            )

    async def propose(self, observation: Observation) -> Action:
        """The model's program, or why none could be read from its completion."""
        problem, program = observation.state.problem, observation.state.program
        completion = await self._answered(self.request(observation), program, problem)
        whole, form = completion.ended == "stop", form_of(problem, self.answer)
        is_repo = problem.spec.repo is not None
        found = read(completion.text, program, problem.language, form, problem.entry, whole, is_repo)
        if isinstance(found, Unread) and says_no_gain(completion.text):
            return Action(None, completion.text, completion.usage, no_gain=True)
        if isinstance(found, Unread):
            return Action(None, completion.text, completion.usage, self._why(found, completion))
        return Action(found, completion.text, completion.usage)

    async def _answered(self, request: ModelRequest, program: Program, problem: Problem) -> Completion:
        """The model's answer, after at most ``ROUNDS`` requests to see more of a repository; the usage is of all."""
        completion = await self.model.complete(request)
        repo = problem.spec.repo
        for left in range(ROUNDS, 0, -1) if repo is not None else ():
            wanted = wishes(completion.text)
            found = read(completion.text, program, problem.language, "edits", problem.entry, is_open=True)
            if repo is None or not wanted or not isinstance(found, Unread):
                break
            texts = await to_thread.run_sync(shown, program, wanted, partial(base_text, repo))
            told = f"# Shown\n\n{writable(texts)}\n\n{_MORE if left > 1 else _NO_MORE}"
            turns = (*request.messages, Message("assistant", completion.text), Message("user", told))
            request = replace(request, messages=turns)
            more = await self.model.complete(request)
            completion = replace(more, usage=completion.usage + more.usage)
        return completion

    def request(self, observation: Observation) -> ModelRequest:
        """The request to the model for an observation."""
        form = form_of(observation.state.problem, self.answer)
        return ModelRequest(
            messages=messages(observation, form),
            draw=observation.draw,
            temperature=observation.temperature if self.temperature is None else self.temperature,
            max_tokens=self.max_tokens,
            thinking_tokens=self.thinking_tokens,
            effort=self.effort,
            extra_body=self.extra_body,
        )

    def _why(self, found: Unread, completion: Completion) -> str:
        if completion.ended == "length":
            return f"the answer was cut at max_tokens = {self.max_tokens}, before its program was complete: be shorter"
        return found.reason


def form_of(problem: Problem, answer: Answer) -> Answer:
    """The form of an answer that is asked for: of a repository always edits, because its files are many."""
    return answer if problem.spec.repo is None else "edits"


def says_no_gain(completion: str) -> bool:
    """Whether an answer begins with the words for "no further gain"."""
    lines = (line.strip(" *#`.:\t") for line in answer_of(completion).splitlines())
    return next((line for line in lines if line), "").upper().startswith(NO_GAIN_ANSWER)


def messages(
    observation: Observation, answer: Answer = "whole", may_pass: bool = True, form: str = ""
) -> tuple[Message, ...]:
    """The prompt for an observation: a system message, and a user message.  The latter has a line ``# Title`` and the
    text for each section, in the order of the sections.  The last one is "Task": the text of that section, or else the
    paper's three rules, and the form of the answer.  ``may_pass``: the answer may be that no further gain is seen.
    ``form``: how to answer, in place of the usual words."""
    problem = observation.state.problem
    parts = [section for section in observation.sections if section.title != "Task"]
    told = [f"# {section.title}\n\n{section.text.strip()}" for section in parts]
    task = (observation.section("Task") or filled("task_rules")).strip()
    none = [filled("answer_none", words=NO_GAIN_ANSWER)] if may_pass else []
    told.append("\n\n".join([f"# Task\n\n{task}", *([form] if form else [_form(problem, answer), *none])]))
    return Message("system", rules_for(problem)), Message("user", writable("\n\n".join(told)))


def _form(problem: Problem, answer: Answer) -> str:
    form = filled("answer_edits") if answer == "edits" else filled("answer_whole", what=_WHAT[problem.kind])
    paths = list(problem.program.files)
    if problem.spec.repo is not None:
        asks = filled("answer_show", most=str(MOST_WISHES))
        return f"{form} {filled('answer_repository')}\n\n{asks}"
    return form if len(paths) == 1 else f"{form} {filled('answer_files', paths=', '.join(paths))}"
