"""``maxcode ask`` and ``maxcode tell``: whoever can run a command is the policy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import as_json
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.files import read_text
from maxcode.llm.questions import LEASE_S
from maxcode.run import asking
from maxcode.run.job import optimize_source
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request
from maxcode.search.methods import candidates


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--lease", default=LEASE_S, show_default=True, metavar="SECONDS",
              help="The prompt is given to nobody else for so long.")  # fmt: skip
@as_json
def ask(run: Path, lease: float, json_: bool) -> None:
    """Print an open prompt of RUN, a run of `maxcode optimize --policy ask`, with its id.

    Answer it as a model would, and give the answer to `maxcode tell RUN ID`.  Several may ask at once.
    """
    found = asking.ask(run, lease)
    if json_:
        echo_json(json.dumps({"id": found.id, "prompt": found.prompt} if found else {"id": None}))
    elif found is None:
        echo("no prompt is open: others have them, or the run has ended")
    else:
        echo(f"id: {found.id}\n\n{found.prompt}")


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("name", metavar="ID")
@click.argument("answer", default="-")
@as_json
def tell(run: Path, name: str, answer: str, json_: bool) -> None:
    """Evaluate an ANSWER (a file; - reads standard input) to the prompt ID of RUN, and print what came of it.

    The run goes on as far as answers reach.  With the last one the winner is confirmed and certified.
    """
    text = sys.stdin.read() if answer == "-" else read_text(Path(answer))
    told = asking.tell(run, name, text, _go_on)
    result = told.result
    if json_:
        known: dict[str, Any] = {"feedback": told.feedback, "open": told.open}
        echo_json(json.dumps({**known, "result": json.loads(result.as_json()) if result is not None else None}))
        return
    echo("\n".join(told.feedback) or "not evaluated: the program is known already, or a cap ended the run")
    echo(f"{told.open} prompts are open: maxcode ask {run}" if result is None else str(result))


def _go_on(request: Request) -> Any:
    with SearchProgress(candidates(request.method, request.budget)) as progress:
        return optimize_source(request, progress.watch, progress.admitted, progress.say, spending=progress.spending)
