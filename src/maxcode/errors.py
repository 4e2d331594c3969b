"""The exceptions of maxcode, with the exit code of each.

    MaxcodeError
    ├── InputError        what the user gave cannot be used          exit 2
    │   ├── RecordError   a run folder that cannot be read or resumed
    │   ├── NoRuleError   the built-in policy has no rule for the program
    │   ├── UnmeasurableError  the tests are too short to time
    │   └── AnswerError   an answer that gives no candidate; its prompt stays open
    ├── UnsafeError       this machine cannot do it safely            exit 3
    ├── Interrupted       stopped by the user; the record is whole    exit 130
    └── BoundaryError     something outside the program failed: nothing is scored, the slot stays open
        ├── MachineError  compiler, sandbox, disk or clock failed
        └── ProviderError a model's provider failed for good

A bad *program* is not an error: it gets an ``Evaluation``.  A message says what happened, with which value, and what to
do next.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class MaxcodeError(Exception):
    """The root of the tree; ``exit_code`` is what the command line returns."""

    exit_code = 1


class InputError(MaxcodeError):
    """What the user gave cannot be used; the message says what to change."""

    exit_code = 2


class RecordError(InputError):
    """A run folder that cannot be read, or does not belong to this run."""


class NoRuleError(InputError):
    """The built-in policy has no rule for the language or for the program, so the run would change nothing."""


class UnmeasurableError(InputError):
    """The tests of the program are too short to time, so the run could prove nothing."""


class AnswerError(InputError):
    """An answer to a prompt gives no candidate; the prompt stays open."""


class UnsafeError(MaxcodeError):
    """This machine cannot run untrusted programs safely."""

    exit_code = 3


class Interrupted(MaxcodeError):
    """The user stopped the run; everything that finished is recorded."""

    exit_code = 130


class BoundaryError(MaxcodeError):
    """Something outside the program under test failed.  It never becomes a reward."""


class MachineError(BoundaryError):
    """The compiler, the sandbox, the disk or the clock failed."""

    exit_code = 3


class ProviderError(BoundaryError):
    """A model's provider failed, and no further attempt is made."""


class NotRecordedError(ProviderError):
    """A replay holds answers to such calls, and none to this one."""


class Unanswered(MaxcodeError):
    """A run waits for answers from outside; everything that finished is recorded."""


def first_of(errors: BaseExceptionGroup[MaxcodeError]) -> MaxcodeError:
    """The first error of tasks that ran at once."""
    first = errors.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first


def unknown(what: str, name: str, known: Iterable[str], listed: str = "") -> InputError:
    """The error for a name that does not exist.  It gives the nearest known spelling.

    ``listed``: where all names can be read, if there are many.  It replaces the list, and up to three near names are
    given.
    """
    names = sorted(known)
    near = [f"'{one}'" for one in difflib.get_close_matches(name, names, n=3 if listed else 1)]
    if listed:
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        return InputError(f"unknown {what} '{name}'; {hint}{listed}")
    hint = f"; did you mean {near[0]}? " if near else ". "
    return InputError(f"unknown {what} '{name}'{hint}Known: {', '.join(names)}.")
