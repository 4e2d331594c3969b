"""``maxcode race``: two versions of a program, or two commands, judged: faster, slower, or no change."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import anyio
import click

from maxcode.bench.versions import RaceAsked, VersionsRaced, race_versions
from maxcode.bench.versions.race_folder import RaceFolder
from maxcode.cli.common import as_json, sandbox_options
from maxcode.cli.fail_on import FAILED_STATUS
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.types import Clock
from maxcode.errors import InputError, unknown
from maxcode.run.display import Display
from maxcode.run.waits import waits_on

FAILURES: dict[str, Callable[[VersionsRaced], bool]] = {
    "slower": lambda found: found.verdict == "slower" or any(row.verdict == "slower" for row in found.rows),
    "not-faster": lambda found: found.verdict != "faster",
    "undecided": lambda found: "undecided" in (found.verdict, *(row.verdict for row in found.rows)),
    "not-exercised": lambda found: found.verdict == "not exercised",
    "wrong": lambda found: found.verdict == "wrong",
    "doubt": lambda found: found.doubt,
}


_MOST_BARE = 0.2  # a larger number without % may mean per cent


def _share(words: str, option: str) -> float:
    """2%, 2 % or 0.02 as a share."""
    number, is_percent = words.strip().removesuffix("%").strip(), words.strip().endswith("%")
    try:
        share = float(number) / (100 if is_percent else 1)
    except ValueError as error:
        raise InputError(f"{option} {words} is not a share, e.g. 2%") from error
    if not 0 < share <= 1:
        raise InputError(f"{option} {words} is not between 0 and 100 %; 2% is usual")
    if not is_percent and share > _MOST_BARE:
        raise InputError(f"{option} {words} can mean {100 * share:g}% or {number}%; write one of these, with its %")
    return share


def _fail_on(context: click.Context, _: click.Parameter, given: str) -> dict[str, float | None]:
    """Word -> its share, None without one."""
    found: dict[str, float | None] = {}
    for word in filter(None, (part.strip() for part in given.split(","))):
        name, colon, share = word.partition(":")
        if name not in FAILURES:
            raise unknown("result in --fail-on", name, FAILURES)
        if colon and name != "slower":
            raise InputError(f"--fail-on {word}: only slower takes a share, e.g. slower:2%")
        found[name] = _share(share, f"--fail-on {name}:") if colon else None
    return found


@click.command()
@click.argument("sides", nargs=-1, metavar="[BASE HEAD]")
@click.option(
    "--base", help="The whole command of base, for the shell; with --head, in place of BASE HEAD and COMMAND."
)
@click.option("--head", help="The whole command of head, for the shell.")
@click.option("--build", default="", metavar="CMD", help="Shell command that builds a side, run once in a copy of it.")
@click.option("--setup", default="", metavar="CMD", help="Shell command that runs before every run and is not timed.")
@click.option(
    "--stdin", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Standard input of every run."
)
@click.option(
    "--read",
    default="",
    metavar="FORMAT[:PATH]",
    help="Take times from what the command prints, or writes at "
    "PATH, one row a benchmark: pytest, google, criterion, go, metric.  [default: time the whole process]",
)
@click.option(
    "--goal",
    type=click.Choice(get_args(Clock)),
    default="cpu",
    show_default=True,
    help="What to compare: CPU seconds, wall seconds, or instructions (counted by valgrind, not with --read).",
)
@click.option(
    "--margin",
    default="2%",
    show_default=True,
    callback=lambda context, _, words: _share(words, "--margin"),
    metavar="SHARE",
    help="The largest change that counts as no change.",
)
@click.option("--same-output", is_flag=True, help="Head must print what base prints, byte by byte, in every run.")
@click.option("--pairs", type=click.IntRange(1), default=60, show_default=True, help="Most pairs of runs.")
@click.option(
    "--max-seconds",
    "seconds",
    type=click.FloatRange(1),
    default=300.0,
    show_default=True,
    help="Most wall seconds that the timed runs may take.",
)
@click.option("--same-sides", is_flag=True, help="Race two sides that are the same, to see the noise of this machine.")
@click.option(
    "--allow-equal",
    is_flag=True,
    help='Sides that are the same get the verdict "nothing differs", which is no error.',
)
@click.option(
    "--show",
    "shown",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Show the sandbox this folder as well, read-only; may be repeated.",
)
@click.option(
    "--trust-both",
    "trusts_both",
    is_flag=True,
    help="Run both sides WITHOUT A SANDBOX, as your user and with your environment; the result says so.",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write the result as Markdown, for a job summary or a comment.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep the race in this new folder: all figures (race.json), a summary, and the command that repeats it.",
)
@click.option(
    "--fail-on",
    "failures",
    default="",
    callback=_fail_on,
    metavar="RESULT,...",
    help=f"Exit with status {FAILED_STATUS} if the result is one of these: {', '.join(FAILURES)}.  slower:2% "
    "means slower by more than 2 %.  [default: exit with 0 whatever the result]",
)
@sandbox_options
@as_json
def race(
    sides: Sequence[str], base: str | None, head: str | None, markdown: Path | None, out: Path | None,
    failures: dict[str, float | None], json_: bool, **options: Any,
) -> int:  # fmt: skip
    """Tell whether HEAD is faster than BASE, slower, or the same, and how sure that is.

    BASE and HEAD are git revisions, folders or files.  COMMAND comes after `--` and starts in the side; for files, {}
    stands for the file.  Options come before `--`.

    \b
        maxcode race main HEAD --build make -- ./bench --size 1000
        maxcode race old.py new.py -- python3 {}
        maxcode race --base 'sort -n big' --head 'sort -n --parallel=2 big' --goal wall
    """
    asked = _asked(sides, base, head, {**options, "slower_by": failures.get("slower")})
    if "wrong" in failures and not asked.same_output:
        raise InputError("--fail-on wrong needs --same-output: without it no output is compared")
    words = tuple(sys.argv[1:])
    kept = RaceFolder(out, words, _places(words) if sides else ()) if out is not None else None
    if kept is not None:
        kept.open()
    with Display() as display, waits_on(display):
        found = anyio.run(partial(race_versions, asked, display.say))
    if kept is not None:
        kept.write(found)
    if markdown is not None:
        _write(markdown, found.markdown())
    if json_:
        echo_json(found.as_json())
    else:
        echo(found)
    return FAILED_STATUS if any(FAILURES[word](found) for word in failures) else 0


def _asked(sides: Sequence[str], base: str | None, head: str | None, options: dict[str, Any]) -> RaceAsked:
    if (base is None) != (head is None):
        raise InputError("--base and --head go together: each is a whole command")
    if base is not None and head is not None:
        if sides:
            raise InputError("give either BASE HEAD -- COMMAND, or --base and --head, not both")
        return RaceAsked(base, head, **options)
    if len(sides) < 3:
        raise InputError("give two sides and a command: maxcode race BASE HEAD -- COMMAND, or --base CMD --head CMD")
    return RaceAsked(sides[0], sides[1], tuple(sides[2:]), **options)


def _places(words: Sequence[str]) -> tuple[int, ...]:
    """Where in the command line BASE and HEAD stand."""
    valued = {name for one in race.params if isinstance(one, click.Option) and not one.is_flag for name in one.opts}
    found: list[int] = []
    at, is_command = (words.index("race") + 1 if "race" in words else len(words)), False
    while at < len(words) and len(found) < 2:
        word = words[at]
        if word == "--" and not is_command:
            is_command = True
        elif is_command or not word.startswith("-"):
            found.append(at)
        elif word in valued:
            at += 1
        at += 1
    return tuple(found)


def _write(path: Path, text: str) -> None:
    try:
        with path.open("a" if os.environ.get("GITHUB_STEP_SUMMARY") == str(path) else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
