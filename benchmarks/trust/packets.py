"""Malformed packets for a real shim in a real sandbox: it must answer, or end with all that is in it."""

from __future__ import annotations

import socket
import struct
import subprocess
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self, final

from maxcode import evaluate
from maxcode.errors import MachineError
from maxcode.sandbox import jobs
from maxcode.sandbox.jobs import Blob, Job, pack, unpack
from maxcode.sandbox.sandbox import Sandbox, Session
from trust.mutate import mutated, number, overwrite
from trust.targets import Finding

PATIENCE_S = 60.0
_PLAN, _ARRAY = struct.Struct("<4I"), struct.Struct("<2Q")
_HAS_STDIN, _HAS_ARTEFACT, _CALLED = jobs._HAS_STDIN, jobs._HAS_ARTEFACT, jobs._CALLED
_FLAGS_TRIED = (0, 0, 1, 2, _HAS_STDIN, _HAS_STDIN | _CALLED, _CALLED, _HAS_ARTEFACT, 0x7F, 0xFF)
_COLLECTED = 8  # where the number of files to collect stands
_WORDS = (("true",), ("false",), ("echo", "x"), ("cat",), ("nowhere",), ("sh", "-c", "kill $$"), ("program",))
_USUAL = Job(("true",), memory_mb=256, output_mb=4, processes=16, cpu_s=2, wall_s=4)
_FLAGS = ("-std=gnu17", "-O1", "-g", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
          "-static-libasan", "-static-libubsan")  # fmt: skip
_OPTIONS = """
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:abort_on_error=0:exitcode=99"; }
"""


def checked_shim(folder: Path) -> Path:
    """The shim built with AddressSanitizer and UBSan, in ``folder``; raises MachineError if the compiler cannot."""
    for source in Path(evaluate.__file__).parent.glob("shim*"):
        (folder / source.name).write_text(source.read_text() + (_OPTIONS if source.name == "shim.c" else ""))
    built = folder / "shim"
    argv = ["gcc", *_FLAGS, str(folder / "shim.c"), "-o", str(built)]
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode:
        raise MachineError(f"no shim with sanitizers: {done.stderr.decode(errors='replace')[:500]}")
    built.chmod(0o755)
    folder.chmod(0o755)
    return built


@final
class Victim:
    """A session that is opened again whenever a packet ended it.  Use it with ``async with``."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._artefact = Blob.of(b"#!/bin/true\n")
        self.sessions = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()
        self._artefact.close()

    async def close(self) -> None:
        """Ends the session, and checks that nothing of it is left."""
        self._session = None
        await self._stack.aclose()

    async def send(self, generator: Random) -> None:
        """Sends one packet; it must be answered or end the session.  Raises Finding for anything else."""
        session = self._session or await self._open()
        packet, plan = _packet(generator)
        line = session._line
        with Blob.of(plan) as stdin:
            fds = [stdin.fd, self._artefact.fd] * 9
            flags = int.from_bytes(packet[:4], "little")
            right = [fd for fd, bit in ((stdin.fd, _HAS_STDIN), (self._artefact.fd, _HAS_ARTEFACT)) if flags & bit]
            some = right if generator.random() < 0.8 else fds[: generator.choice((0, 1, 2, 3, 16, 17))]
            try:
                socket.send_fds(line.socket, [packet], some)
            except OSError:
                return  # more than the socket takes: nothing was sent
            await self._hear(session, packet)

    async def _open(self) -> Session:
        self._session = await self._stack.enter_async_context(self._sandbox.session([]))
        self._session._limited(_USUAL)  # the control group's limits, which a job would set
        self.sessions += 1
        return self._session

    async def _hear(self, session: Session, packet: bytes) -> None:
        line = session._line
        try:
            answer, fds = await line.hear(PATIENCE_S)
        except MachineError as error:
            await self.close()
            if line.process.returncode is None:
                raise Finding("the session outlived its end") from error
            if "gave no answer" in str(error):
                raise Finding(f"no answer in {PATIENCE_S:g} s to {packet[:400].hex()}") from error
            if "Sanitizer" in str(error) or "runtime error" in str(error):
                raise Finding(_report(str(error))) from error
            return
        try:
            unpack(replace(_USUAL, collect=tuple(f"/tmp/{n}" for n in range(32))), answer, fds)
        except MachineError as error:
            if "cannot be read" in str(error):
                raise Finding(f"its answer is malformed: {error}") from error


def _report(words: str) -> str:
    """The lines of a sanitizer's report that say what and where."""
    lines = [line.strip() for line in words.splitlines()]
    told = [
        line for line in lines if "runtime error" in line or "ERROR: " in line or ("shim" in line and line[:1] == "#")
    ]
    return " | ".join(told[:3])[:500]


def _packet(generator: Random) -> tuple[bytes, bytes]:
    """A request, mostly malformed in one place, and what is given as its standard input."""
    if generator.random() < 0.05:
        return generator.randbytes(generator.choice((0, 1, 55, 56, 57, 200, 65_000))), b""
    job = replace(
        _USUAL, argv=generator.choice(_WORDS), collect=tuple(f"/tmp/{n}" for n in range(generator.randrange(9)))
    )
    packet = pack(job, "hosted")
    head, text = bytearray(packet[: jobs._REQUEST.size]), packet[jobs._REQUEST.size :]
    head[:4] = generator.choice(_FLAGS_TRIED).to_bytes(4, "little")
    if generator.random() < 0.2:  # more to collect than jobs.py asks for
        more = generator.choice((13, 30, 40, 490, 511))
        head[_COLLECTED : _COLLECTED + 4] = (len(job.collect) + more).to_bytes(4, "little")
        text += b"".join(f"/src/{n}".encode() + b"\0" for n in range(more - 1)) + b"/bin/sh\0"
    if generator.random() < 0.5:
        overwrite(generator, head)
    packet = bytes(head) + (mutated(generator, text)[:65_000] if generator.random() < 0.3 else text)
    return packet[: generator.randint(0, len(packet))] if generator.random() < 0.1 else packet, _plan(generator)


def _plan(generator: Random) -> bytes:
    """Calls of a function, with a number that is too large somewhere; no array of more than 16 MB is honest here."""
    fields = [generator.randrange(4), generator.randrange(3), generator.randrange(3), generator.choice((0, 8, 4088))]
    if generator.random() < 0.5:
        at = generator.randrange(4)
        fields[at] = number(generator, 32)
    arrays = [[generator.choice((0, 8, 4096, 100_000)), generator.randrange(3)] for _ in range(min(fields[0], 20))]
    if arrays and generator.random() < 0.3:
        arrays[0][generator.randrange(2)] = number(generator, 64)
    raw = _PLAN.pack(*fields) + b"".join(_ARRAY.pack(*one) for one in arrays) + bytes(1000)
    return mutated(generator, raw) if generator.random() < 0.1 else raw
