"""The command line.  Each verb has one file, which parses the options, calls one public function, and prints.

Results go to stdout, progress to stderr.  Exit status: 0 the job was done, whatever the verdict; 1 a result that
``--fail-on`` names, or a certificate that does not hold; 2 bad input; 3 this machine cannot do it safely; 4 a candidate
that ``evaluate`` only compiled, because there is no GPU; 130 interrupted.
"""

from __future__ import annotations

import sys

import click

from maxcode import __version__
from maxcode.cli.ask import ask, tell
from maxcode.cli.bench import bench
from maxcode.cli.capture import capture
from maxcode.cli.cluster import cluster
from maxcode.cli.compare import compare
from maxcode.cli.doctor import doctor
from maxcode.cli.evaluate import evaluate
from maxcode.cli.export import export
from maxcode.cli.list import list_
from maxcode.cli.mcp import mcp
from maxcode.cli.optimize import optimize
from maxcode.cli.problems import problems
from maxcode.cli.race import race
from maxcode.cli.referee import referee
from maxcode.cli.report import report
from maxcode.cli.scout import scout_
from maxcode.cli.skill import skill
from maxcode.cli.terminal import echo, echo_usage, guard
from maxcode.cli.train import train
from maxcode.cli.verify import verify
from maxcode.errors import InputError, MaxcodeError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def cli() -> None:
    """Make programs measurably faster, and prove it."""


for verb in (
    optimize, ask, tell, evaluate, verify, capture, race, scout_, bench, compare, train, cluster, problems, export,
    doctor, report, list_, skill, referee, mcp,
):  # fmt: skip
    cli.add_command(verb)


def main() -> None:
    """The entry point.  An error of maxcode prints one sentence, without a traceback, and sets the exit status."""
    guard()
    try:
        _refuse_undecodable(sys.argv)
        status = cli.main(prog_name="maxcode", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Abort:
        _fail("interrupted", 130)
    except KeyboardInterrupt:
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
