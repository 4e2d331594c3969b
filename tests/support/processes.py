"""Processes that a test started: those of a cluster, found by their environment, and the descendants of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import anyio

from maxcode import Evaluation
from maxcode.core.types import Action, Problem
from maxcode.evaluate.cluster import Cluster
from maxcode.sandbox.lanes import LOCK

MARK = "RAY_TMPDIR"  # a folder of its own for each cluster of Ray on this machine


def of_this_cluster(*words: str, folder: str = "") -> list[int]:
    """The processes of our Ray (or of the one with its files in ``folder``) whose command line holds these words.

    They, or one that they descend from, name the folder: Ray writes its workers' titles over their environment.
    """
    everyone, mark = _everyone(), folder or os.environ[MARK]

    def is_ours(pid: int) -> bool:
        one = everyone.get(pid)
        return one is not None and (mark in one.command or mark in one.environment or is_ours(one.parent))

    return [pid for pid, one in everyone.items() if is_ours(pid) and all(word in one.command for word in words)]


def folder_of(driver: int) -> str:
    """Where the Ray that a driver started keeps its files; empty where there is none yet."""
    for one in _everyone().values():
        if "maxcode.evaluate.cluster.ray_nodes" in one.command and one.parent == driver:
            return next(word.partition("=")[2] for word in one.environment.split("\0") if word.startswith(f"{MARK}="))
    return ""


class _Process(NamedTuple):
    parent: int
    command: str
    environment: str


def _everyone() -> dict[int, _Process]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
            found[int(folder.name)] = _Process(parent, command, (folder / "environ").read_text(errors="replace"))
        except OSError:  # it is gone, or is another user's
            continue
    return found


def until(reached: Callable[[], bool], at_most_s: float, told: Callable[[], str]) -> None:
    """Wait until something is so; TimeoutError with ``told`` where it takes too long."""
    end = time.monotonic() + at_most_s
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(told())
        time.sleep(0.05)


def killed_while_evaluating(cluster: Cluster, problem: Problem, victims: Sequence[int], first: int) -> list[Evaluation]:
    """Four evaluations of programs as fast as the original; the victims are killed a moment after the first began.

    The programs are numbered from ``first`` on: one that is lost a second time would be quarantined, as it should be.
    """
    evaluator = cluster.evaluator()
    before = {slot.name: slot.orders for slot in cluster.report().slots}
    found: list[Evaluation] = []

    async def one(number: int) -> None:
        text = problem.program.text.replace("return 0;", f"return (int)(n + {number} < 0);")
        found.append(await evaluator.evaluate(problem, Action(problem.program.with_text(text))))

    async def kill() -> None:
        while {slot.name: slot.orders for slot in cluster.report().slots} == before:
            await anyio.sleep(0.02)
        await anyio.sleep(0.5)
        for victim in victims:
            os.kill(victim, signal.SIGKILL)

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for number in range(first, first + 4):
                group.start_soon(one, number)
            group.start_soon(kill)

    anyio.run(everything)
    return found


def descendants(pid: int) -> set[int]:
    found = {pid}
    for _ in range(8):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) in found:
                found.add(int(stat.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def is_timing(pid: int) -> bool:
    """Whether it is this process that holds the machine's timing lane."""
    inode = f":{LOCK.stat().st_ino}"
    holders = (line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" not in line)
    return any(words[5].endswith(inode) and int(words[4]) == pid for words in holders)


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@contextmanager
def optimizing(place: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`maxcode optimize` of the program in ``place`` (``counting_place``) into its folder run, gone when the block is
    left."""
    command = [sys.executable, "-m", "maxcode", "optimize", "slow.c", "--tests", "tests", "--out", "run", *words]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            yield run
        finally:
            run.kill()
