"""``maxcode capture``: records the calls of a Python function, and makes a problem of them."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import click

from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.problems.recording.capture import capture as capture_calls


@click.command()
@click.argument("command")
@click.option(
    "--function", required=True, metavar="MODULE:NAME", help="E.g. textkit.wrap:wrapped, or textkit.wrap:Wrapper.wrap."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the problem.  [default: the function's name]")
@click.option("--most", type=click.IntRange(4), default=1000, show_default=True, help="Record so many calls at most.")
@as_json
def capture(command: str, function: str, out: Path | None, most: int, json_: bool) -> None:
    """Run COMMAND (your tests, say), record the calls of a Python function in it, and make a problem of them.

    The command runs as it does without maxcode.  Arguments, results, exceptions, and what becomes of the arguments are
    recorded; then the function is called again with them in the sandbox, and calls that give another result there are
    left out.  Every second call is held out: it is timed, and shown to no policy.
    """
    folder = out or Path(function.rpartition(":")[2] or "captured")
    found = anyio.run(capture_calls, command, function, folder, most)
    if json_:
        calls = {"made": found.made, "kept": found.kept}
        echo_json(json.dumps({"problem": str(found.folder), "calls": calls, "notes": found.notes}))
        return
    echo(f"recorded   {found.kept} different calls of {found.made}, half of them held out")
    for note in found.notes:
        echo(f"note       {note}")
    echo(f"problem    {found.folder}")
    echo(f"go on      maxcode optimize {found.folder}")
