"""Keeps a policy's schedules to legal ones while it writes them.

    tokens so far -> whole lines -> the program that they make -> its legal next lines, as tokens -> the next tokens

The model's probabilities of all other tokens are set to 0.  The loss does not know of this: it is that of the whole
vocabulary, so it also teaches the policy to write what decoding would force.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, final

from maxcode.core.types import Problem
from maxcode.policy.rules.kernels import Permitted, applied
from maxcode.policy.rules.kernels.schedule import offers, written
from maxcode.train.config import TrainConfig
from maxcode.train.prompts import LOOPS, TO, Scheduled

if TYPE_CHECKING:
    from maxcode.train.grpo import Learner

_PROGRAMS = 500  # whose next lines are kept
Tokens = tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class _Program:
    """A program on the way, what may be done to it, and the legal next lines: ``ends`` of whole lines -> their labels,
    ``following`` of a part of a line -> next token -> tokens of the shortest line that goes on so."""

    text: str
    language: str
    allowed: Permitted
    original: str
    ends: dict[Tokens, str] = field(default_factory=dict)
    following: dict[Tokens, dict[int, int]] = field(default_factory=dict)


@final
class Legal:
    """The legal next tokens of a schedule, as ``prefix_allowed_tokens_fn`` of transformers asks for them.

    The end of the text is legal after every whole line, and nothing else where no further line fits into ``most``
    tokens.  What is permitted is read from the prompt."""

    def __init__(self, tokenizer: Any, problems: Sequence[Problem], prompts: Scheduled, most: int) -> None:
        self._tokenizer, self._prompts, self._most = tokenizer, prompts, most
        self._problems = {problem.id: problem for problem in problems}
        self._begins: Tokens = tuple(tokenizer.encode(f"{TO}\n"))
        self._root = lru_cache(_PROGRAMS)(self._of_prompt)
        self._program = lru_cache(_PROGRAMS)(self._of_text)
        self._after = lru_cache(_PROGRAMS)(applied)

    def __call__(self, batch: int, ids: Any) -> list[int]:
        tokens: Tokens = tuple(ids.tolist())
        size = len(self._begins)
        start = max(at for at in range(size, len(tokens) + 1) if tokens[at - size : at] == self._begins)
        return self.next(tokens[:start], tokens[start:])

    def next(self, prompt: Tokens, answer: Tokens) -> list[int]:
        """The legal next tokens of an answer to a prompt."""
        end = [self._tokenizer.eos_token_id]
        if end[0] in answer:
            return end
        program, begin = self._root(prompt), 0
        for at in range(1, len(answer) + 1):
            label = program.ends.get(answer[begin:at])
            if label is not None:
                text = self._after(program.text, program.language, written([label]), program.allowed)
                program, begin = self._program(text, program.language, program.allowed, program.original), at
        room = self._most - 1 - begin  # one is for the end
        fits = [token for token, size in program.following.get(answer[begin:], {}).items() if size <= room]
        return fits + (end if begin == len(answer) and answer else []) or end

    def _of_prompt(self, prompt: Tokens) -> _Program:
        name, *facts = self._tokenizer.decode(prompt, skip_special_tokens=True).splitlines()
        permitted = frozenset(line.removeprefix("//") for line in facts[: facts.index(LOOPS)])
        problem = replace(self._problems[name.removeprefix("//")], permitted=permitted)
        text = problem.program.text
        return self._program(text, problem.language, self._prompts.allowed(problem), text)

    def _of_text(self, text: str, language: str, allowed: Permitted, original: str) -> _Program:
        found = _Program(text, language, allowed, original)
        for label in offers(language, text, allowed, original):
            line: Tokens = tuple(self._tokenizer.encode(written([label])))
            found.ends[line] = label
            for at, token in enumerate(line):
                shortest = found.following.setdefault(line[:at], {})
                shortest[token] = min(len(line), shortest.get(token, len(line)))
        return found


def kept_legal(config: TrainConfig, learner: Learner, problems: Sequence[Problem]) -> Learner:
    """The learner; if it writes schedules, its model generates only legal ones from now on."""
    if config.completion == "schedule":
        legal = Legal(learner.tokenizer, problems, Scheduled(config.corpus.templates), config.grpo.max_completion)
        learner.model.generate = partial(learner.model.generate, prefix_allowed_tokens_fn=legal)
    return learner
