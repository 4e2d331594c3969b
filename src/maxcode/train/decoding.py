"""Keeps a policy's schedules to legal ones while it writes them.

    tokens so far -> whole lines -> the program that they make -> its legal next lines, as tokens -> the next tokens

The model's probabilities of all other tokens are set to 0, also those of needless lines (``schedule.py``), which would
only make answers longer.  The loss does not know of this: it is that of the whole vocabulary, so it also teaches the
policy to write what decoding would force.

In training an answer may also be kept from ending where its program is measured already, or where another answer of the
same batch may end: it goes on, or takes another way.  So measurements go to new programs.  That is the rule of
UniqueRandomizer (arXiv 2002.09067) for leaves that are drawn; it does not take their probability from the lines before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, final

from maxcode.core.types import Problem
from maxcode.errors import InputError
from maxcode.policy.rules.kernels import Permitted, applied
from maxcode.policy.rules.kernels.schedule import mark, offers, written
from maxcode.train.config import TrainConfig
from maxcode.train.explore import Known
from maxcode.train.prompts import LOOPS, TO, Scheduled

if TYPE_CHECKING:
    from maxcode.train.grpo import Learner

_PROGRAMS = 2000  # whose next lines are kept
_LONGEST = 20_000  # characters of a program; longer ones take seconds to read and to compile
Tokens = tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class _Program:
    """A program on the way, what may be done to it, and the next lines: ``ends`` of whole legal lines -> their labels,
    ``following`` of a part of one that is not needless -> next token -> tokens of the shortest line that goes on so.
    ``passed``: the marks of programs to which a line would be needless; ``beyond``: for the line after it."""

    problem: str
    text: str
    language: str
    allowed: Permitted
    original: str
    passed: frozenset[int]
    beyond: frozenset[int]
    ends: Mapping[Tokens, str]
    following: dict[Tokens, dict[int, int]] = field(default_factory=dict)


@final
class Legal:
    """The legal next tokens of a schedule, as ``prefix_allowed_tokens_fn`` of transformers asks for them.

    The end of the text is legal after every whole line, and nothing else where no further line fits into ``most``
    tokens, or all that fit are needless.  What is permitted is read from the prompt.  With ``known`` the end is also
    illegal after a program that is known, or that another answer of the batch has come to first, as long as a further
    line may follow."""

    def __init__(
        self, tokenizer: Any, problems: Sequence[Problem], prompts: Scheduled, most: int, known: Known | None = None
    ) -> None:
        self._tokenizer, self._prompts, self._most = tokenizer, prompts, most
        self._known, self._first, self._last = known, dict[tuple[str, str], int](), Tokens()
        self._problems = {problem.id: problem for problem in problems}
        self._begins: Tokens = tuple(tokenizer.encode(f"{TO}\n"))
        self._root = lru_cache(_PROGRAMS)(self._of_prompt)
        self._program = lru_cache(_PROGRAMS)(self._of_text)
        self._lines = lru_cache(_PROGRAMS)(self._lines_of)
        self._after = lru_cache(_PROGRAMS)(applied)

    def __call__(self, batch: int, ids: Any) -> list[int]:
        tokens: Tokens = tuple(ids.tolist())
        size = len(self._begins)
        start = max(at for at in range(size, len(tokens) + 1) if tokens[at - size : at] == self._begins)
        if batch == 0:
            if tokens[:-1] != self._last:  # a new batch of answers
                self._first.clear()
            self._last = tokens
        return self.next(tokens[:start], tokens[start:], batch)

    def next(self, prompt: Tokens, answer: Tokens, number: int = 0) -> list[int]:
        """The legal next tokens of an answer to a prompt; ``number``: its place in its batch."""
        end = [self._tokenizer.eos_token_id]
        if end[0] in answer:
            return end
        program, begin = self._root(prompt), 0
        for at in range(1, len(answer) + 1):
            label = program.ends.get(answer[begin:at])
            if label is not None:
                try:
                    text = self._after(program.text, program.language, written([label]), program.allowed)
                except InputError:  # a technique that no step should introduce: the reader of the answer says so too
                    return end
                program, begin = self._of(program, text), at
        room = self._most - 1 - begin  # one is for the end
        fits = [token for token, size in program.following.get(answer[begin:], {}).items() if size <= room]
        ends = bool(answer) and begin == len(answer) and self._may_end(program, number)
        return fits + (end if ends else []) or end

    def _may_end(self, program: _Program, number: int) -> bool:
        if self._known is None:
            return True
        first = self._first.setdefault((program.problem, program.text), number)
        return first == number and not self._known(program.problem, program.text)

    def _of(self, before: _Program, text: str) -> _Program:
        return self._program(before.problem, text, before.language, before.allowed, before.original, before.beyond)

    def _of_prompt(self, prompt: Tokens) -> _Program:
        name, *facts = self._tokenizer.decode(prompt, skip_special_tokens=True).splitlines()
        permitted = frozenset(line.removeprefix("//") for line in facts[: facts.index(LOOPS)])
        problem = replace(self._problems[name.removeprefix("//")], permitted=permitted)
        text = problem.program.text
        allowed, passed = self._prompts.allowed(problem), frozenset({mark(text)})
        return self._program(problem.id, text, problem.language, allowed, text, passed)

    def _of_text(
        self, problem: str, text: str, language: str, allowed: Permitted, original: str, passed: frozenset[int]
    ) -> _Program:
        lines = self._lines(text, language, allowed, original)
        ends, beyond = {line: label for line, (label, _) in lines.items()}, {made for _, made in lines.values()}
        found = _Program(problem, text, language, allowed, original, passed, passed | beyond, ends)
        for line, (_, made) in lines.items():
            for at, token in enumerate(line if made not in passed else ()):
                shortest = found.following.setdefault(line[:at], {})
                shortest[token] = min(len(line), shortest.get(token, len(line)))
        return found

    def _lines_of(self, text: str, language: str, allowed: Permitted, original: str) -> dict[Tokens, tuple[str, int]]:
        """The legal lines, as tokens -> their labels, and the marks of the programs after them."""
        found = offers(language, text, allowed, original, _LONGEST)
        return {tuple(self._tokenizer.encode(written([label]))): (label, made) for label, made in found.items()}


def kept_legal(
    config: TrainConfig, learner: Learner, problems: Sequence[Problem], known: Known | None = None
) -> Learner:
    """The learner; if it writes schedules, its model generates only legal ones from now on, and with ``known`` such
    that end at new programs."""
    if config.completion == "schedule":
        prompts = Scheduled(config.corpus.templates)
        legal = Legal(learner.tokenizer, problems, prompts, config.grpo.max_completion, known)
        learner.model.generate = partial(learner.model.generate, prefix_allowed_tokens_fn=legal)
    return learner
