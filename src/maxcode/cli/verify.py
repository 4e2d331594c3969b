"""``maxcode verify``: repeats the measurements of a certificate."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from maxcode.cli.common import as_json, run_setup_option, sandbox_options
from maxcode.cli.terminal import echo, echo_json
from maxcode.problems import named_files
from maxcode.run.certificate import Moved, Repeated, repeat


@click.command()
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--problem", type=click.Path(path_type=Path),
              help="The original: its folder, or its source with --tests.  "
              "[default: what the run folder keeps and names]")  # fmt: skip
@click.option("--tests", type=click.Path(path_type=Path), help="Folder of tests, if --problem is a source.")
@click.option("--file", "files", multiple=True, metavar="NAME=PATH", help="Data file of the program, if it is "
              "not where it was; may be repeated.")  # fmt: skip
@click.option("--venv", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Virtual environment of "
              "the run, if it is not where it was.")  # fmt: skip
@run_setup_option
@sandbox_options
@as_json
def verify(
    certificate: Path,
    problem: Path | None,
    tests: Path | None,
    files: tuple[str, ...],
    venv: Path | None,
    json_: bool,
) -> int:
    """Build, verify and time the winner of CERTIFICATE again; its files are in best/ in the same folder.

    Exit status 0 if the winner is significantly faster here too; 1 if it is not; 2 if a file is not the one that the
    certificate was made with, or if the certificate was changed.
    """
    found = repeat(certificate, problem, tests, partial(echo, err=True), Moved(named_files(files), venv))
    if json_:
        echo_json(found.as_json())
    else:
        echo("\n".join(_lines(found)))
    return 0 if found.here.holds else 1


def _lines(found: Repeated) -> list[str]:
    here = found.here
    lines = [str(found)]
    if here.timing is not None and found.claimed.timing is not None and not found.agrees:
        lines.append("note       the two intervals do not overlap: the speed-up differs on this machine")
    lines += [f"fresh      {here.unseen}"] if here.unseen is not None else []
    lines += [f"re-check   {here.harsher}"] if here.harsher is not None else []
    if here.control is not None:
        low, high = here.control.interval.low, here.control.interval.high
        lines.append(
            f"control    the original against itself: [{low:.4f}, {high:.4f}], {here.control.interval.confidence:.0%}"
        )
    lines += [f"trust      {here.trust}"] if here.trust is not None else []
    lines += [f"DOUBT      {doubt}" for doubt in here.doubts]
    lines += [f"warning    {words}" for words in here.warnings]
    lines += [f"there      {words}" for words in (*found.claimed.doubts, *found.claimed.warnings)]
    if here.sanitized is not None:
        lines += [f"not run    {why}" for why in here.sanitized.not_run]
    return lines + [f"machine    {words}" for words in found.elsewhere]
