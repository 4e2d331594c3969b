"""``--fail-on``: results that end a command with exit status 1, for scripts and CI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from maxcode.core.types import Outcome
from maxcode.errors import InputError, unknown
from maxcode.run.candidate_result import CandidateResult

FAILED_STATUS = 1

Command = TypeVar("Command", bound=Callable[..., Any])

FAILURES: Mapping[str, Callable[[CandidateResult], bool]] = {
    "wrong": lambda found: found.outcome is not Outcome.CORRECT,
    "slower": lambda found: found.speedup is not None and found.speedup.slower,
    "not-faster": lambda found: found.speedup is None or not found.speedup.confirmed,
    "doubt": lambda found: bool(found.doubts),
    "uncompared": lambda found: found.fresh_inputs is not None and found.fresh_inputs.is_missing,
}


def fail_on(*words: str) -> Callable[[Command], Command]:
    """The option ``--fail-on`` for a command whose results may fail for these reasons."""

    def parsed(context: click.Context, _: click.Parameter, given: str) -> tuple[str, ...]:
        named = tuple(word.strip() for word in given.split(",") if word.strip())
        for word in named:
            if word not in words and word in FAILURES:
                raise InputError(f"--fail-on {word} is not for `{context.info_name}`; give {', '.join(words)}")
            if word not in words:
                raise unknown("result in --fail-on", word, words)
        return named

    return click.option("--fail-on", default="", metavar="RESULT,...", callback=parsed,
                        help=f"Exit with status {FAILED_STATUS} if the result is one of these: {', '.join(words)} "
                        "(docs/how-to/in-ci.md).  [default: exit with 0 whatever the result]")  # fmt: skip


def status_of(result: CandidateResult, named: Sequence[str]) -> int:
    """The exit status of a result: ``FAILED_STATUS`` if it is one of the ``named`` ones, else 0."""
    return FAILED_STATUS if any(FAILURES[word](result) for word in named) else 0
