"""Commands of maxcode that go on in the background, each in a folder of its own.

    FOLDER/0003-race/words.json   the words of the command
                     in, out, err
                     lock         held by the command while it runs
                     status       its exit status, once it has ended

A command is a session of its own and ends with nobody else: whoever knows the folder finds it again.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from maxcode.core.files import RECORD_AT_MOST, FileKind, opened, read_file, write_whole
from maxcode.errors import InputError

State = Literal["running", "ended", "lost"]
_SAID_BYTES = 4096
_PRINTED = FileKind("the output of the job", at_most=RECORD_AT_MOST, grows=True)
_RUN = """
at=$1; shift
{ "$@" <"$at/in" >"$at/out" 2>"$at/err"; echo $? >"$at/part"; mv "$at/part" "$at/status"; } &
"""


@final
@dataclass(frozen=True, slots=True)
class Job:
    """One command and what it has printed."""

    folder: Path

    @property
    def name(self) -> str:
        """Number and verb, e.g. 0003-race."""
        return self.folder.name

    @property
    def words(self) -> list[str]:
        """The command after ``maxcode``."""
        found: list[str] = json.loads((self.folder / "words.json").read_text())
        return found

    @property
    def state(self) -> State:
        """``lost``: it was killed, and its end is not known."""
        if (self.folder / "status").exists():
            return "ended"
        with (self.folder / "lock").open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return "running"
        return "ended" if (self.folder / "status").exists() else "lost"

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs, or if it was lost."""
        path = self.folder / "status"
        return int(path.read_text()) if path.exists() else None

    def printed(self) -> str:
        """All that it wrote to its standard output."""
        return read_file(self.folder / "out", _PRINTED).decode(errors="replace")

    def said(self, lines: int) -> list[str]:
        """The last lines that it wrote to its error output, where progress goes."""
        with opened(self.folder / "err", _PRINTED) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _SAID_BYTES))
            text = file.read().decode(errors="replace")
        return [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()][-lines:]


@final
class Background:
    """The commands below one folder; they start in ``here``, with these variables."""

    def __init__(self, folder: Path, here: Path, variables: Mapping[str, str]) -> None:
        self.folder, self.here = folder, here
        self._environment = {**os.environ, **variables}  # what this process sets later is not the commands'

    def begin(self, words: Sequence[str], text: str = "") -> Job:
        """Starts ``maxcode WORDS`` with ``text`` as its standard input; or finds the same command, if it still runs."""
        with self._alone():
            for job in self.running():
                if job.words == list(words) and (job.folder / "in").read_bytes() == text.encode():
                    return job
            job = self._new(words[0])
            write_whole(job.folder / "words.json", json.dumps(list(words)).encode())
            for name, content in (("in", text), ("out", ""), ("err", "")):
                (job.folder / name).write_bytes(content.encode())
            with (job.folder / "lock").open("wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._start(job, words, lock.fileno())
        return job

    def job(self, name: str) -> Job:
        """A command by its name.  InputError if there is none."""
        found = {job.name: job for job in self.jobs()}
        if name not in found:
            newest = ", ".join(list(found)[-5:]) or "none was begun"
            raise InputError(f"there is no job '{name}'; the newest are: {newest}")
        return found[name]

    def jobs(self) -> list[Job]:
        """All commands, the oldest first."""
        folders = sorted(self.folder.glob("[0-9]*-*"), key=lambda path: int(path.name.partition("-")[0]))
        return [Job(path) for path in folders if (path / "lock").exists()]

    def running(self) -> list[Job]:
        return [job for job in self.jobs() if job.state == "running"]

    def _start(self, job: Job, words: Sequence[str], lock: int) -> None:
        """The shell ends at once, so that no child of this process is left to wait for."""
        # -P: a file beside the programs must not become a module of a process that no sandbox holds.
        command = ["sh", "-c", _RUN, "sh", str(job.folder.resolve()), sys.executable, "-P", "-m", "maxcode", *words]
        none = subprocess.DEVNULL  # what a server talks to its client by is not the job's
        subprocess.run(command, check=True, stdin=none, stdout=none, stderr=none, cwd=self.here, pass_fds=(lock,),
                       env=self._environment, start_new_session=True)  # fmt: skip

    def _new(self, verb: str) -> Job:
        number = len(list(self.folder.iterdir()))
        while True:
            path = self.folder / f"{number:04}-{verb}"
            try:
                path.mkdir()
                return Job(path)
            except FileExistsError:
                number += 1

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
