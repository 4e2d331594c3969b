"""The command line, run as a process of its own, and its JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def maxcode(
    *arguments: object, cwd: Path | None = None, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maxcode", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, cwd=cwd, env={**os.environ, **environment}
    )


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found
