"""The referee over HTTP, for trainers and loops in another process, environment or language.

    GET  /problems   names and original programs
    POST /judge      {"problem": NAME, "programs": [TEXT, ...]} -> {"judgements": [...]} in the same order

``problem`` may be left out if there is one.  Every request carries ``Authorization: Bearer TOKEN``.  A refused request
gets {"error": SENTENCE}.  The programs of a batch are built side by side and timed one after the other.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, final

import msgspec

from maxcode.core.jsonl import DAMAGED
from maxcode.errors import InputError, Interrupted, MaxcodeError, unknown
from maxcode.run.referee import Judgement, Referee

MOST_BYTES = 64 << 20  # of a request
MOST_PROGRAMS = 1024
_READ_S = 60.0
_CLOSED = "the server was stopped before all programs of the batch were judged; post them again when it runs"


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    programs: list[str]
    problem: str = ""


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


@final
class RewardServer(ThreadingHTTPServer):
    """Serves the judgements of ``referees`` (problem -> referee) to who knows the token.

    ``parallel``: programs of a batch that are built at once.  ``server_address`` is host and port.  ``server_close``
    leaves out the programs that wait; a batch that lacks them is refused.
    """

    daemon_threads = True

    def __init__(
        self, address: tuple[str, int], token: str, referees: Mapping[str, Referee], parallel: int = 4
    ) -> None:
        self.token, self.referees = token, dict(referees)
        self.pool = ThreadPoolExecutor(parallel)
        super().__init__(address, _Handler)

    def judged(self, batch: _Batch) -> list[Judgement]:
        """The judgements of a batch, in its order.  InputError if it names no problem of the server, Interrupted if the
        server was closed before all were judged."""
        name = batch.problem or (next(iter(self.referees)) if len(self.referees) == 1 else "")
        if name not in self.referees:
            raise unknown("problem", name, self.referees)
        try:
            waiting = [self.pool.submit(self.referees[name], f"{text}\n") for text in batch.programs]
        except RuntimeError as closed:
            raise Interrupted(_CLOSED) from closed
        try:
            return [one.result() for one in waiting]
        except CancelledError as cancelled:
            raise Interrupted(_CLOSED) from cancelled
        finally:
            for one in waiting:  # behind an error nobody asks for the others
                one.cancel()

    def server_close(self) -> None:
        super().server_close()
        self.pool.shutdown(wait=False, cancel_futures=True)


@final
class _Handler(BaseHTTPRequestHandler):
    server: RewardServer
    timeout = _READ_S
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answered(self._problems)

    def do_POST(self) -> None:
        self._answered(self._judgements)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what a client sends reaches no terminal."""

    def _answered(self, work: Any) -> None:
        try:
            self._authorise()
            status, found = HTTPStatus.OK, work()
        except _Refused as refused:
            status, found = refused.status, {"error": str(refused)}
            self.close_connection = True  # what is left of its body is not read
        except InputError as error:
            status, found = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except MaxcodeError as error:
            status, found = HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
        body = msgspec.json.encode(found)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _authorise(self) -> None:
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self.server.token}".encode()):
            raise _Refused(
                HTTPStatus.UNAUTHORIZED, "give the header `Authorization: Bearer TOKEN` with the server's token"
            )

    def _at(self, path: str) -> None:
        if self.path != path:
            raise _Refused(HTTPStatus.NOT_FOUND, "no such address; there are GET /problems and POST /judge")

    def _problems(self) -> Any:
        self._at("/problems")
        return {"problems": {name: one.program.files for name, one in self.server.referees.items()}}

    def _judgements(self) -> Any:
        self._at("/judge")
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit()) or int(size) > MOST_BYTES:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"give a Content-Length of at most {MOST_BYTES:,} bytes"
            )
        try:
            batch = msgspec.json.decode(self.rfile.read(int(size)), type=_Batch)
        except DAMAGED as error:
            raise InputError(f'the body is not {{"programs": [TEXT, ...]}}: {error}') from error
        if len(batch.programs) > MOST_PROGRAMS:
            raise InputError(f"the batch has {len(batch.programs)} programs; give at most {MOST_PROGRAMS}")
        return {"judgements": [_table(one) for one in self.server.judged(batch)]}


def _table(one: Judgement) -> dict[str, Any]:
    return {"score": one.score, "metrics": one.metrics, "artefacts": dict(one.artefacts), "result": one.result.table()}
