"""The line to a shim: a socket of packets and descriptors, and the process at its other end."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import anyio

from maxcode.errors import MachineError

_END_S = 5.0


@final
@dataclass(frozen=True, slots=True)
class Line:
    """Our end of the socket to a shim, and its process or the parent of it; ``words``: the file of its stderr."""

    socket: socket.socket
    process: subprocess.Popen[bytes]
    words: int

    def ask(self, packet: bytes, fds: Sequence[int]) -> None:
        try:
            socket.send_fds(self.socket, [packet], fds)
        except OSError as error:
            raise MachineError(f"the sandbox has ended: {error.strerror}{self._complaint()}") from error

    async def hear(self, patience_s: float) -> tuple[bytes, list[int]]:
        """The next packet with its descriptors; MachineError if the shim has ended, or sends nothing for too long."""
        with anyio.move_on_after(patience_s) as waiting:
            await anyio.wait_readable(self.socket)
        if waiting.cancelled_caught:
            raise MachineError(f"the sandbox gave no answer within {patience_s:g} s{self._complaint()}")
        try:
            packet, fds, _, _ = socket.recv_fds(self.socket, 4096, 16, socket.MSG_CMSG_CLOEXEC)
        except ConnectionResetError:  # the shim died before it read our packet
            packet, fds = b"", []
        if not packet:
            await self.gone()
            raise MachineError(f"the sandbox ended with status {self.process.returncode}{self._complaint()}")
        return packet, fds

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    async def gone(self) -> None:
        """Waits until the shim and every process it started have ended; kills it if it does not end by itself."""
        for patience in (_END_S, float("inf")):
            with anyio.move_on_after(patience):
                await _ended(self.process)
                return
            self.process.kill()

    def _complaint(self) -> str:
        said = os.pread(self.words, 4096, 0).decode(errors="replace").strip()
        return f": {said}" if said else ""


async def _ended(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        watched = os.pidfd_open(process.pid)
        try:
            await anyio.wait_readable(watched)
        finally:
            os.close(watched)
        process.wait()


def start(argv: Sequence[str], fds: Sequence[int], words: int) -> subprocess.Popen[bytes]:
    """Starts it in this thread, that of the event loop, because it is killed when the thread that started it ends.

    It gets its own terminal session, so that Ctrl-C does not reach it.
    """
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=fds,
        )
    except OSError as error:
        raise MachineError(f"cannot start {argv[0]}: {error.strerror}; set MAXCODE_CACHE to another folder") from error
