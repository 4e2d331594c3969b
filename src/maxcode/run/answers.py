"""Whether an answer to a prompt can be used, before it counts as a candidate: its form, whether its edits fit, and, of
a repository, whether it changes only files that may be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from maxcode.core.types import Problem, Program, RepoSpec
from maxcode.evaluate.repo.allowed import outside
from maxcode.evaluate.repo.base_text import base_text
from maxcode.evaluate.repo.git import tracked
from maxcode.llm.completion import Answer, Unread, read
from maxcode.llm.completion.shown import shown, wishes
from maxcode.policy.llm import form_of, says_no_gain

_OUTSIDE_SHOWN = 5


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer must hold: the original's files, their language, the function that a whole program defines, the
    form that is asked for, and the repository whose files they are."""

    files: dict[str, str]
    language: str
    entry: str
    answer: Answer = "whole"
    repo: RepoSpec | None = None

    def program(self, changed: Mapping[str, str]) -> Program:
        """The program that an answer changes: the original with these files in place of its own."""
        return Program({**self.files, **changed})


def wanted_of(problem: Problem, answer: Answer) -> Wanted:
    """What the answers to the prompts of a problem must hold."""
    files = dict(problem.program.files)
    return Wanted(files, problem.language, problem.entry, form_of(problem, answer), problem.spec.repo)


def why_unusable(answer: str, wanted: Wanted, program: Program) -> str:
    """Why an answer gives no candidate; empty if it does, or says that no further gain is seen.

    ``program``: the one that the answer changes.
    """
    is_repo = wanted.repo is not None
    found = read(answer, program, wanted.language, wanted.answer, wanted.entry, complete=True, is_open=is_repo)
    if isinstance(found, Unread):
        return "" if says_no_gain(answer) else found.reason
    if wanted.repo is None:
        return ""
    if found.files == program.files:
        return "nothing changed: its files are those of the program to improve"
    known = tracked(Path(wanted.repo.folder), wanted.repo.commit).keys()
    changed = [path for path, text in found.files.items() if wanted.files.get(path) != text]
    wrong = outside(changed, wanted.repo, known)
    return f"it changes files that must stay as in base: {'; '.join(wrong[:_OUTSIDE_SHOWN])}" if wrong else ""


def texts_asked_for(answer: str, wanted: Wanted, program: Program) -> str:
    """What an answer asks to see of a repository (``SHOW path``); empty if it asks for nothing, or has a program."""
    asked = wishes(answer)
    if wanted.repo is None or not asked:
        return ""
    found = read(answer, program, wanted.language, wanted.answer, wanted.entry, is_open=True)
    if isinstance(found, Program):
        return ""
    return shown(program, asked, partial(base_text, wanted.repo))
