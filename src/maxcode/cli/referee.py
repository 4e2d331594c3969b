"""``maxcode referee serve``: the referee over HTTP."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from maxcode.cli.common import cluster_options, overrides, problem_options, sandbox_options
from maxcode.cli.terminal import echo
from maxcode.core.files import read_text
from maxcode.errors import InputError
from maxcode.run.referee import Referee
from maxcode.run.reward_server import RewardServer

_TOKEN = "MAXCODE_REFEREE_TOKEN"


@click.group()
def referee() -> None:
    """Judge programs for other loops and trainers."""


@referee.command(short_help="Answer requests for judgements until Ctrl-C.")
@click.argument("problems", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65535), help="0: any free port.")
@click.option("--token-file", type=click.Path(path_type=Path), help=f"File with the token of the clients.  [default: "
              f"the variable {_TOKEN}, or a new token, which is printed]")  # fmt: skip
@click.option("--parallel", default=max(2, os.cpu_count() or 2), show_default="the cores", type=click.IntRange(1),
              help="Programs that are built at once; timing is one after the other.")  # fmt: skip
@problem_options
@cluster_options
@sandbox_options
def serve(
    problems: tuple[Path, ...], host: str, port: int, token_file: Path | None, parallel: int, tests: Path | None,
    **options: Any,
) -> None:  # fmt: skip
    """Answer POST /judge with the judgements of programs for PROBLEMS, until Ctrl-C.

    The body is {"programs": [TEXT, ...]}, with "problem": NAME if there are several.  See docs/how-to/other-loops.md.
    """
    shapes, cluster = options.pop("shapes"), options.pop("cluster")
    changed = overrides(options)
    token = (read_text(token_file) if token_file is not None else os.environ.get(_TOKEN, "")).strip()
    with ExitStack() as stack:
        known: dict[str, Referee] = {}
        for path in problems:
            one = stack.enter_context(Referee(path, tests, overrides=changed, shapes=shapes, cluster=cluster))
            if one.name in known:
                raise InputError(f"two problems are called {one.name}; rename the folder of one, or serve it apart")
            echo(f"admitting {one.name}", err=True)
            one.admit()
            known[one.name] = one
        try:
            server = stack.enter_context(
                RewardServer((host, port), token or secrets.token_urlsafe(24), known, parallel)
            )
        except OSError as error:
            raise InputError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from error
        echo(f"listening on http://{host}:{server.server_address[1]}: {', '.join(known)}")
        echo(f"token: {server.token}" if not token else "token: as given")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            echo("stopping: the programs that are being judged end first", err=True)
