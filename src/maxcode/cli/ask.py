"""``maxcode ask`` and ``maxcode tell``: whoever can run a command is the policy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import as_json, run_setup_option
from maxcode.cli.terminal import echo, echo_json
from maxcode.core.files import FileKind, read_stream, read_text
from maxcode.llm.questions import LEASE_S, Question
from maxcode.run import asking
from maxcode.run.job import optimize_source
from maxcode.run.progress import SearchProgress
from maxcode.run.request import Request
from maxcode.search.methods import candidates


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("name", metavar="[ID]", default="")
@click.option("--lease", default=LEASE_S, show_default=True, metavar="SECONDS",
              help="The prompt is given to nobody else for so long.")  # fmt: skip
@as_json
def ask(run: Path, name: str, lease: float, json_: bool) -> None:
    """Print an open prompt of RUN, a run of `maxcode optimize --policy ask`, with its id; or the prompt ID again.

    Answer it as a model would, and give the answer to `maxcode tell RUN ID`.  Several may ask at once.
    """
    found = asking.ask(run, lease, name)
    if json_:
        echo_json(json.dumps(asked_table(run, found)))
    elif found is None:
        others = asking.waiting(run)
        echo(
            f"no prompt is free; given out: {', '.join(others)} (print one again: maxcode ask {run} {others[0]})"
            if others
            else f"no prompt is open: {_WHY_NONE[asking.state_of(run)].format(run=run)}"
        )
    else:
        echo(f"id: {found.id}\n\n{found.prompt}")


def asked_table(run: Path, found: Question | None) -> dict[str, Any]:
    """A prompt for programs; without one, what the run is at, and the prompts that others have."""
    if found is None:
        return {"id": None, "state": asking.state_of(run), "given_out": asking.waiting(run)}
    return {"id": found.id, "prompt": found.prompt}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("name", metavar="[ID]", default="")
@click.argument("answer", default="-")
@click.option("--finish", is_flag=True, help="Ask for nothing more: answer every open prompt with `no further gain`, "
              "and certify the winner.")  # fmt: skip
@run_setup_option
@as_json
def tell(run: Path, name: str, answer: str, finish: bool, json_: bool) -> None:
    """Evaluate an ANSWER (a file; - reads standard input) to the prompt ID of RUN, and print what came of it.

    The run goes on as far as answers reach.  With the last one the winner is confirmed and certified.  ID and ANSWER
    are left out with --finish alone.
    """
    if finish == bool(name):
        raise click.UsageError("give the ID of a prompt, or --finish")
    if finish:
        told = asking.finish(run, _go_on)
    else:
        # As bytes: what the locale makes of an answer is not what a file with it would hold.
        text = read_stream(sys.stdin.buffer, _STREAM) if answer == "-" else read_text(Path(answer))
        told = asking.tell(run, name, text, _go_on)
    result = told.result
    if json_:
        known: dict[str, Any] = {"feedback": told.feedback, "open": told.open, "stays_open": told.stays_open}
        echo_json(json.dumps({**known, "result": json.loads(result.as_json()) if result is not None else None}))
        return
    if not finish:
        echo("\n".join(told.feedback) or _not_evaluated(result))
    if told.stays_open:
        echo(f"the prompt {name} stays open: maxcode tell {run} {name}")
        return
    if result is None:
        echo(f"{told.open} {'prompt is' if told.open == 1 else 'prompts are'} open: maxcode ask {run}")
        return
    echo(result)


_STREAM = FileKind("the answer on standard input")
_WHY_NONE = {
    "asking": "one was opened just now; ask again",
    "evaluating": "an answer is being evaluated; ask again when its `maxcode tell` has ended",
    "ended": "the run has ended, and its result is in {run}/result.json",
    "interrupted": "the run was interrupted; repeat the last `maxcode tell`, or `maxcode tell {run} --finish`",
}


def _not_evaluated(result: Any) -> str:
    """Why an answer has no feedback; ``result``: None while the run goes on."""
    if result is None:
        return "not evaluated: its program is known already, so its prompt is asked again"
    return f"not evaluated: the run ended before it ({result.ended or 'the search is over'})"


def _go_on(request: Request) -> Any:
    with SearchProgress(candidates(request.method, request.budget)) as progress:
        return optimize_source(request, progress.watch, progress.admitted, progress.say, spending=progress.spending)
