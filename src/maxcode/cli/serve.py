"""``maxcode serve``: the built-in policies as a local endpoint of language models."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import click

from maxcode.cli.common import as_json
from maxcode.code.languages import language_of
from maxcode.code.source import fenced
from maxcode.errors import InputError
from maxcode.serve import Serving, faults, serving
from maxcode.serve.answer import MODELS

_LOOPBACK = ("127.0.0.1", "localhost")


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on; 0 takes a free one.")
@click.option("--host", default="127.0.0.1", help="Loopback only; any other host is refused.")
@click.option("--faults", "spec", default="", help="Fail on purpose: 429=0.1,500=0.05,hang=0.02,garbage=0.05,"
              "truncated=0.05,half=0.05,slow=0.1.")  # fmt: skip
@click.option("--fault-seed", type=int, default=0, help="Seed of the faults (default 0).")
@click.option("--delay", type=click.FloatRange(min=0), default=0.0, metavar="MS", help="Pause before every answer.")
@click.option("--fixed", type=click.Path(path_type=Path), help="Serve maxcode-fixed too, which always answers with "
              "this program; {draw} in it becomes the draw.")  # fmt: skip
@click.option("--models", is_flag=True, help="Show the models and leave.")
@as_json
def serve(host: str, models: bool, json_: bool, **options: Any) -> None:
    """Serve the rewriter and the kernel policy to tools that speak OpenAI's or Anthropic's API.

    Prints the base URL when it is ready; Ctrl-C stops it.
    """
    if host not in _LOOPBACK:
        raise InputError(
            f"maxcode serve does not listen on '{host}': it has no keys and no users, so it is on 127.0.0.1 alone; "
            "leave --host out, and use an SSH tunnel to reach it from elsewhere"
        )
    if models:
        click.echo(json.dumps({one.name: one.what for one in MODELS}) if json_ else "\n".join(_models()))
        return
    with _interruptible() as stop, _opened(**options) as running:
        click.echo(json.dumps(_as_json(running)) if json_ else running.base_url)
        stop.wait()
    click.echo(f"stopped after {running.tally.requests} requests: {dict(running.tally.outcomes)}", err=True)


def _opened(port: int, spec: str, fault_seed: int, delay: float, fixed: Path | None) -> AbstractContextManager[Serving]:
    return serving(faults(spec, fault_seed), delay / 1e3, _fixed(fixed), port)


def _models() -> list[str]:
    return [f"{one.name:18} {one.what}" for one in MODELS]


def _as_json(running: Serving) -> dict[str, object]:
    return {
        "base_url": running.base_url,
        "anthropic_base_url": running.anthropic_base_url,
        "models": running.models,
    }


def _fixed(path: Path | None) -> str | None:
    """The answer of maxcode-fixed: the program of a file in one fenced block."""
    if path is None:
        return None
    try:
        return fenced(path.read_text(), language_of(str(path)).name)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the program '{path}' of --fixed: {error}") from None


@contextmanager
def _interruptible() -> Iterator[Event]:
    """An event that Ctrl-C or SIGTERM sets, so that a server is stopped and not broken off."""
    stop = Event()
    before = {one: signal.signal(one, lambda *_: stop.set()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
