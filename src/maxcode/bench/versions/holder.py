"""Runs trusted commands, one a line of JSON on stdin, and answers each with a line: a program of its own.

It is a subreaper: orphans of a command become its children, so that they are charged and killed.  When its stdin ends
(its parent has finished, or was killed), it kills what still runs and ends.  It imports nothing of maxcode.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_S = 0.2


def descendants() -> list[int]:
    """The direct children of this process; those of a killed child become direct ones."""
    return [int(word) for word in Path("/proc/thread-self/children").read_text().split()]


def kill_rest() -> float:
    """Kills every process below this one; their CPU seconds."""
    used = 0.0
    while children := descendants():
        for pid in children:
            for kill in (os.killpg, os.kill):
                with suppress(OSError):  # it leads no group, or is already dead
                    kill(pid, signal.SIGKILL)
        for pid in children:
            usage = os.wait4(pid, 0)[2]
            used += usage.ru_utime + usage.ru_stime
    return used


def wait(pid: int, ask: dict[str, Any], began: float) -> str:
    """Waits until the process ends; why it must be killed, else empty."""
    ended = os.pidfd_open(pid)
    try:
        while True:
            left = ask["wall_s"] - (time.perf_counter() - began)
            if left <= 0:
                return f"took more than {ask['wall_s']:g} s"
            ready, _, _ = select.select([ended, 0], [], [], min(left, _LOOK_S))
            if ended in ready:
                return ""
            if 0 in ready:
                return "was interrupted"
            if any(os.stat(ask[name]).st_size > ask["most"] for name in ("out", "err")):
                return f"wrote more than {ask['most'] >> 20} MB"
    finally:
        os.close(ended)


def run(ask: dict[str, Any]) -> dict[str, Any]:
    with open(ask["stdin"], "rb") as given, open(ask["out"], "wb") as out, open(ask["err"], "wb") as err:
        began_ns, began = time.time_ns(), time.perf_counter()
        try:
            process = subprocess.Popen(
                ask["words"], cwd=ask["folder"], stdin=given, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            return {"trouble": f"cannot be started: {error}", "cpu_s": 0.0, "wall_s": 0.0, "began_ns": began_ns}
        trouble = wait(process.pid, ask, began)
        if trouble:
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # it is reaped here, where its usage is told
        wall_s = time.perf_counter() - began
    more_s = kill_rest()
    if not trouble and status:
        code = os.waitstatus_to_exitcode(status)
        trouble = f"ended with status {code}" if code > 0 else f"ended with signal {-code}"
    cpu_s = usage.ru_utime + usage.ru_stime + more_s
    return {"trouble": trouble, "cpu_s": cpu_s, "wall_s": wall_s, "began_ns": began_ns}


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes stdin
    if ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("cannot become a subreaper")
    for line in iter(sys.stdin.buffer.readline, b""):
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
