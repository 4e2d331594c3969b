"""Running the endpoint: in a thread of its own, on loopback alone, until the context ends."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, final

from maxcode.errors import InputError, MachineError
from maxcode.serve.faults import Faults
from maxcode.serve.tally import Tally

if TYPE_CHECKING:
    from uvicorn import Server

HOST = "127.0.0.1"
_LEAVE_S = 1  # that running requests have to end when the server stops
_TICK_S = 0.005


@final
@dataclass(frozen=True, slots=True)
class Serving:
    """A running endpoint: where it is, which models it has, and what it has counted."""

    port: int
    models: tuple[str, ...]
    tally: Tally = field(default_factory=Tally)

    @property
    def base_url(self) -> str:
        """The base URL for clients of OpenAI's API."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def anthropic_base_url(self) -> str:
        """The base URL for clients of Anthropic's API, which add the version themselves."""
        return f"http://{HOST}:{self.port}"


@contextmanager
def serving(
    faults: Faults | None = None, delay_s: float = 0.0, fixed: str | None = None, port: int = 0
) -> Iterator[Serving]:
    """The endpoint, ready for requests, on a free port unless one is given; stopped when the context ends.

    ``fixed`` is what the model ``maxcode-fixed`` answers.  InputError without the extra ``serve``, or where the port is
    taken.
    """
    try:
        from uvicorn import Config, Server

        from maxcode.serve.app import Service, Settings, application
    except ImportError:
        raise InputError("`maxcode serve` needs starlette and uvicorn: pip install 'maxcode[serve]'") from None
    settings, tally = Settings(delay_s, faults or Faults(), fixed), Tally()
    with _listener(port) as listener:
        config = Config(
            application(settings, tally),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=_LEAVE_S,
        )
        with _running(Server(config), listener):
            yield Serving(listener.getsockname()[1], Service(settings, tally).models, tally)


def _listener(port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise InputError(f"{port} is no port: choose one of 0..65535, 0 for a free one")
    # asyncio switches Nagle's delay off only where the protocol is named, which `create_server` does not do: each
    # answer would wait 40 ms for the client's acknowledgement
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} of {HOST} cannot be had: {error.strerror}; --port 0 takes a free one") from None
    return listener


@contextmanager
def _running(server: Server, listener: socket.socket) -> Iterator[None]:
    """The server in a thread, from its first moment of readiness on."""
    ended: list[BaseException] = []

    def serve() -> None:
        try:
            asyncio.run(server.serve([listener]))
        except BaseException as error:  # a thread has no one to raise to
            ended.append(error)

    thread = Thread(target=serve, name="maxcode serve", daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(_TICK_S)
        if not thread.is_alive():
            raise MachineError(f"the endpoint did not start: {ended or 'no reason given'}; start it again")
        port = listener.getsockname()[1]
        yield
    finally:
        server.should_exit = True
        thread.join()
    if ended:
        raise MachineError(f"the endpoint on port {port} broke: {ended[0]!r}; start it again") from ended[0]
