"""Runs a command and returns its printed lines and, if requested, the memory of its process tree."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.2


@dataclass(frozen=True)
class Watched:
    """``peak_mb``: the largest observed sum of PSS over the tree; 0 if memory was not watched."""

    stdout: str
    peak_mb: float


def watched(command: Sequence[str], environment: Mapping[str, str], *, memory: bool) -> Watched:
    """Runs ``command`` to its end; raises SystemExit with its last output if it fails.

    Memory is read from /proc every 0.2 s, which costs CPU time: do not time a run whose memory is watched.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as words:
        process = subprocess.Popen(command, stdout=out, stderr=words, text=True, env={**os.environ, **environment})
        peak = 0.0
        try:
            while memory and process.poll() is None:
                peak = max(peak, sum(pss_mb(pid) for pid in tree(process.pid)))
                time.sleep(SAMPLE_S)
            process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        out.seek(0)
        words.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"`{' '.join(command)}` ended with status {process.returncode}:\n{words.read()[-2000:]}")
        return Watched(out.read(), peak)


def tree(pid: int) -> list[int]:
    """A process and all its descendants, without those that end during the call."""
    found, at = [pid], 0
    while at < len(found):
        found += _children(found[at])
        at += 1
    return found


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def pss_mb(pid: int) -> float:
    """The proportional share of memory of one process in MB; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
