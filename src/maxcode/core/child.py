"""A child process that reads one text and answers on its standard output, to its end."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import anyio
from anyio.abc import ByteReceiveStream, Process


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The exit status of a child, and what it printed; an output that is longer than its bound was cut above it."""

    status: int
    out: bytes
    faults: bytes


async def ended(argv: Sequence[str], stdin: bytes, variables: Mapping[str, str], most: int, most_faults: int) -> Ended:
    """Runs ``argv`` without a shell, in a process group of its own, which ends with the call; ``variables`` are its
    whole environment.  At least ``most`` bytes of its output and ``most_faults`` of its error output are kept.  OSError
    if it cannot be started."""
    process = await anyio.open_process(argv, env=variables, start_new_session=True)
    out, faults = bytearray(), bytearray()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_feed, process, stdin)
            group.start_soon(_collect, process.stdout, out, most)
            group.start_soon(_collect, process.stderr, faults, most_faults)
        status = await process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return Ended(status, bytes(out), bytes(faults))


async def _feed(process: Process, text: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        await process.stdin.send(text)  # a child need not read it all
    await process.stdin.aclose()


async def _collect(stream: ByteReceiveStream | None, into: bytearray, most: int) -> None:
    """Reads to the end; what exceeds ``most`` by a part is read and dropped."""
    assert stream is not None
    async for part in stream:
        if len(into) <= most:
            into += part
