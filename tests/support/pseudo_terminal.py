"""A command on a real terminal (a pty): what a person's screen would receive."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

HOSTILE = ("\x1b]0;owned\x07", "\x1b[2J", "\x9b2J", "\u202e", "\x08")
SHOWN = ("\\x1b]0;owned\\x07", "\\x1b[2J", "\\x9b2J", "\\u202e", "\\x08")


def on_terminal(*arguments: object, cwd: Path, timeout: float = 120) -> tuple[int, bytes]:
    """Exit status of ``python ARGUMENTS`` and all bytes that it wrote to its terminal."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "400", "LINES": "50"}
    process = subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdin=its, stdout=its, stderr=its, cwd=cwd, env=environment
    )
    os.close(its)
    found, ends = b"", time.monotonic() + timeout
    try:
        while time.monotonic() < ends:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # EIO: the last process closed the terminal
                break
            if not part:
                break
            found += part
        return process.wait(timeout=10), found
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def reached(screen: bytes) -> list[str]:
    """The hostile sequences that the screen received as they are."""
    return [one for one in HOSTILE if one.encode() in screen]
