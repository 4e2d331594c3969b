"""A small, fixed part of ``benchmarks/fuzz.py``, and that its references would notice what is wrong."""

from __future__ import annotations

import math
import os
from pathlib import Path
from random import Random

import anyio
import pytest

from maxcode.core.types import Checker, Remark
from maxcode.errors import MachineError
from maxcode.evaluate.function import comparing
from maxcode.evaluate.ladder import build, checker
from maxcode.sandbox import jobs
from maxcode.sandbox.sandbox import Blob, Job, Sandbox
from trust.bounds import lower_bound, upper_bound
from trust.packets import Victim
from trust.rows import Rows
from trust.targets import TARGETS

INPUTS = {"completions": 200, "sources": 100, "problems": 100}
USUAL = 500


def findings(name: str, inputs: int) -> list[str]:
    found = []
    for number in range(inputs):
        try:
            TARGETS[name](Random(f"test {name} {number}"))
        except Exception as error:
            found.append(f"input {number}: {error!r}")
    return found


@pytest.mark.parametrize("name", list(TARGETS))
def test_no_input_gets_a_wrong_answer_or_an_error(name: str) -> None:
    assert findings(name, INPUTS.get(name, USUAL)) == []


def test_malformed_packets_are_answered_or_end_their_own_session(sandbox: Sandbox) -> None:
    async def sent() -> int:
        async with Victim(sandbox) as victim:
            for number in range(60):
                await victim.send(Random(f"test packets {number}"))
            return victim.sessions

    assert 1 < anyio.run(sent) < 60, "some packets are answered and some end their session"


def test_a_time_limit_with_which_clocks_would_wrap_around_is_malformed(sandbox: Sandbox) -> None:
    async def run() -> None:
        async with sandbox.session([]) as session:
            await session.run(Job(("sh", "-c", "kill $$"), wall_s=1.8e13, profile=True))

    with pytest.raises(MachineError, match="malformed job"):
        anyio.run(run)


def test_a_checker_that_overlooks_what_comes_behind_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    strict = checker.difference

    def lenient(how: Checker, want: bytes, have: bytes) -> str | None:
        return strict(how, want, have[: len(want)])

    monkeypatch.setattr(checker, "difference", lenient)
    assert findings("outputs", USUAL)


def test_a_checker_that_refuses_what_is_right_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "difference", lambda how, want, have: None if want == have else "different")
    assert findings("outputs", USUAL)


def test_a_norm_that_overflows_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = comparing.distance
    monkeypatch.setattr(comparing, "distance", lambda *given: min(exact(*given), 1e150))
    assert findings("arrays", USUAL)


@pytest.mark.parametrize(
    ("packet", "files"),
    [(b"", 3), (b"\0" * 10, 3), (bytes(jobs._REPLY.size), 2), (bytes(jobs._REPLY.size), 4), (b"\7", 3)],
)
def test_a_packet_that_is_no_answer_is_an_error_of_the_machine(packet: bytes, files: int) -> None:
    blobs = [Blob.of(b"x") for _ in range(files)]
    whole = packet.ljust(jobs._REPLY.size, b"\0") if packet == b"\7" else packet
    fds = [os.dup(blob.fd) for blob in blobs]
    with pytest.raises(MachineError, match="cannot be read"):
        jobs.unpack(Job(("program",)), whole, fds)


def test_a_line_number_of_thousands_of_digits_is_no_remark_and_no_error() -> None:
    """`#line` puts any text into the names that the compiler quotes."""
    forged = b"/src/a.c:" + b"9" * 5000 + b":1: missed: x:3:5: missed: not vectorized: y\n"
    assert build._remarks(forged + b"/src/a.c:7:1: optimized: loop vectorized\n") == (
        Remark(7, "optimized", "loop vectorized"),
    )


def test_the_bound_on_a_rate_is_that_of_clopper_and_pearson() -> None:
    assert upper_bound(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    bound = upper_bound(4, 1000)
    as_few = sum(math.comb(1000, k) * bound**k * (1 - bound) ** (1000 - k) for k in range(5))
    assert as_few == pytest.approx(0.05)
    assert lower_bound(1000, 1000) == pytest.approx(0.05 ** (1 / 1000))
    assert upper_bound(3, 3) == 1.0 and lower_bound(0, 3) == 0.0


def test_rows_survive_a_torn_last_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = Rows(path)
    rows.add({"a": 1})
    rows.add({"a": 2})
    path.write_bytes(path.read_bytes() + b'{"a": 3')
    again = Rows(path)
    again.add({"a": 4})
    assert Rows(path).found == [{"a": 1}, {"a": 2}, {"a": 4}]
