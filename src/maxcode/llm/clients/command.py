"""A command as a model: the prompt on its standard input, the answer on its standard output.

The command is the user's own, and runs with the user's rights and environment, outside the sandbox.  Only its answer is
a candidate.  It is started without a shell, in a process group of its own, which ends with the call.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

import msgspec

from maxcode.core.child import ended
from maxcode.core.types import Usage
from maxcode.errors import InputError, ProviderError
from maxcode.llm.clients import Completion, ModelRequest
from maxcode.llm.clients.faults import DETAIL_LENGTH, TransientFault, without_key

COMMAND, AGENT = "command:", "agent:"
REPORTING = (COMMAND, AGENT)  # they report what a call cost, if they know
USAGE_VARIABLE = "MAXCODE_USAGE"  # a file in which the command may write what the call cost
DRAW_VARIABLE = "MAXCODE_DRAW"
_ANSWER_BYTES = 16 << 20
_ERROR_BYTES = 1 << 16


class _Reported(msgspec.Struct, forbid_unknown_fields=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float | None = None


@final
@dataclass(frozen=True, slots=True)
class CommandModel:
    """Runs ``argv`` for each request.  Exit status 0 is an answer; another one is a fault, and the call is repeated.

    The command may write ``{"prompt_tokens": N, "completion_tokens": N, "dollars": X}`` to the file that
    ``MAXCODE_USAGE`` names; without it tokens are 0 and dollars are not known.  ``MAXCODE_DRAW`` is the number of the
    sample of this prompt.  ProviderError if the program cannot be started or its report cannot be read.
    """

    argv: tuple[str, ...]

    async def complete(self, request: ModelRequest) -> Completion:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="maxcode-command-") as folder:
            report = Path(folder, "usage.json")
            variables = {**os.environ, USAGE_VARIABLE: str(report), DRAW_VARIABLE: str(request.draw)}
            prompt = "\n\n".join(message.text.strip() for message in request.messages)
            text = await self._answer(prompt.encode() + b"\n", variables)
            reported = self._reported(report)
        seconds = time.monotonic() - started
        usage = Usage(1, reported.prompt_tokens, reported.completion_tokens, seconds, reported.dollars)
        return Completion(text, usage)

    async def _answer(self, prompt: bytes, variables: dict[str, str]) -> str:
        try:
            found = await ended(self.argv, prompt, variables, _ANSWER_BYTES, _ERROR_BYTES)
        except OSError as error:
            raise ProviderError(
                f"cannot start the command {self.argv[0]} ({error.strerror}); correct --policy"
            ) from error
        if len(found.out) > _ANSWER_BYTES:
            raise ProviderError(
                f"the command {self.argv[0]} printed more than {_ANSWER_BYTES >> 20} MiB; print the answer"
            )
        if found.status != 0:
            said = (
                without_key(found.faults.decode(errors="replace"), "")[-DETAIL_LENGTH:] or "nothing on standard error"
            )
            raise TransientFault(f"exit status {found.status}: {said}")
        return found.out.decode(errors="replace")

    def _reported(self, report: Path) -> _Reported:
        try:
            return msgspec.json.decode(report.read_bytes(), type=_Reported)
        except FileNotFoundError:
            return _Reported()
        except (OSError, msgspec.MsgspecError) as error:
            raise ProviderError(
                f"the command {self.argv[0]} wrote a {USAGE_VARIABLE} file that cannot be read ({error}); write "
                '{"prompt_tokens": N, "completion_tokens": N, "dollars": X}'
            ) from error


def words_of(name: str, prefix: str) -> tuple[str, ...]:
    """The words of ``PREFIX'COMMAND WORD ...'``.  InputError if a quote is open."""
    try:
        return tuple(shlex.split(name.removeprefix(prefix)))
    except ValueError as error:
        raise InputError(f"'{name}' cannot be split into words ({error}); correct its quotes") from error


def command_model(name: str) -> CommandModel:
    """The model of ``command:COMMAND``; InputError if the command is empty, unquoted or not there."""
    argv = words_of(name, COMMAND)
    if not argv:
        raise InputError(f"'{name}' names no command; write --policy command:'./ask.sh --fast'")
    if shutil.which(argv[0]) is None:
        raise InputError(f"there is no program '{argv[0]}' (from '{name}'); correct its name, or make it executable")
    return CommandModel(argv)
