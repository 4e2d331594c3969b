"""What the tests of ``maxcode race`` share: a git repository, and a race with its JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.cli import maxcode

WORK = "total = 0\nfor i in range({}):\n    total += i % 7\nprint('done')\n"
TRUST = "--trust-both"
COMMAND = ("--", "/usr/bin/python3", "-I", "work.py")


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", "-C", str(folder), *own, *words], capture_output=True, text=True, check=True)
    return done.stdout


def commit(folder: Path, name: str, text: str, tag: str) -> None:
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", tag)
    git(folder, "tag", tag)


def raced(folder: Path, *words: object) -> dict[str, Any]:
    """The JSON of a race without a sandbox."""
    done = maxcode("race", TRUST, "--json", *words, cwd=folder)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return {**found, "status": done.returncode}


def metrics(**values: float) -> str:
    """A whole command that prints these values."""
    return "; ".join(f"echo METRIC {name}={value}" for name, value in values.items())
