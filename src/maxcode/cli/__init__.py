"""The command line.  Each verb has one file, which parses the options, calls one public function, and prints.

Results go to stdout, progress to stderr.  Exit status: 0 the job was done, whatever the verdict; 1 a result that
``--fail-on`` names, a certificate that does not hold, a problem that ``problems`` cannot use, or a provider that failed
for good; 2 bad input; 3 this machine cannot do it safely; 4 a candidate that ``evaluate`` only compiled, because there
is no GPU; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import final

import click

from maxcode import __version__
from maxcode.cli.terminal import echo, echo_usage, guard
from maxcode.errors import InputError, MaxcodeError, unknown

GROUPS: Mapping[str, Mapping[str, str]] = {  # heading -> verb -> one line, in the order of ``maxcode --help``
    "Make a program faster": {
        "optimize": "Search for a faster version of a program.",
        "capture": "Make a problem of the calls of a Python function in your tests.",
        "scout": "Write the problem.toml of a git repository.",
        "ask": "Print a prompt of a run that you, or your agent, answer.",
        "tell": "Evaluate an answer to such a prompt.",
    },
    "Judge a version": {
        "evaluate": "Verify and time a version against the original.",
        "race": "Tell which of two versions is faster, without tests.",
        "verify": "Repeat the measurements of a certificate.",
        "compare": "Tell which of two runs found the faster program.",
    },
    "Look": {
        "doctor": "Show what this machine can do, and what to install.",
        "list": "List methods, policies, rules, languages and more.",
        "problems": "Check problems before a search.",
        "report": "Write the page of a run again.",
    },
    "Compare and train": {
        "bench": "Run methods on problems, and compare them in one table.",
        "train": "Train policies and value models on measured speed.",
        "cluster": "Start schedulers and benchmark nodes.",
        "export": "Write runs in the formats of other projects.",
    },
    "Serve other tools": {
        "skill": "Print instructions for a coding agent.",
        "mcp": "Serve the judge to a coding agent by MCP.",
        "referee": "Judge programs for other loops and trainers over HTTP.",
    },
}
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
_ELSEWHERE = {"tell": "ask"}  # verb -> the file that it shares
_UNDERSCORED = ("list", "scout")  # their commands are ``list_`` and ``scout_`` in their files


@final
class Verbs(click.Group):
    """The verbs; the file of a verb is imported when it is used, because all of them together take a second."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in alphabetical order."""
        return sorted(VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the verbs by group, without an import of their files."""
        for heading, verbs in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([*verbs.items()])  # `list` is the module of a verb here

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb; InputError if there is none of that name, or None while a shell completes words."""
        if cmd_name not in VERBS:
            if ctx.resilient_parsing:
                return None
            raise _no_verb(cmd_name)
        module = import_module(f"maxcode.cli.{_ELSEWHERE.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, f"{cmd_name}_" if cmd_name in _UNDERSCORED else cmd_name)
        return command


def _no_verb(word: str) -> InputError:
    if os.path.exists(word):  # False for a word that can be no name
        return InputError(f"{word} is no command; to make it faster: maxcode optimize {word}")
    return unknown("command", word, VERBS, "`maxcode --help` lists all")


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def cli() -> None:
    """Make programs measurably faster, and prove it.

    Options of a command: `maxcode COMMAND --help`.  Which one do you need: docs/index.md.
    """


def main() -> None:
    """The entry point.  An error of maxcode prints one sentence, without a traceback, and sets the exit status."""
    guard()
    try:
        _refuse_undecodable(sys.argv)
        status = cli.main(prog_name="maxcode", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except click.ClickException as error:
        echo_usage(error)
        sys.exit(error.exit_code)
    except MaxcodeError as error:
        _fail("\n".join([str(error), *getattr(error, "__notes__", [])]), error.exit_code)


def _refuse_undecodable(words: list[str]) -> None:
    """Raises InputError for a word that is not UTF-8: names are recorded in files that are."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"'{word}' is not UTF-8; rename the file, or write the word in UTF-8") from error


def _fail(message: str, status: int) -> None:
    echo(f"maxcode: {message}", err=True)
    sys.exit(status)
