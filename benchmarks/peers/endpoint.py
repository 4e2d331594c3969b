"""`maxcode serve` in a process of its own, for as long as a context lasts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def endpoint(*, delay_ms: float = 0.0, fixed: Path | None = None) -> Iterator[str]:
    """The base URL of a local endpoint on a free port; ``fixed``: the program that `maxcode-fixed` answers."""
    command = [sys.executable, "-m", "maxcode", "serve", "--json", "--port", "0", "--delay", str(delay_ms)]
    command += ["--fixed", str(fixed)] if fixed is not None else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                raise SystemExit(f"`{' '.join(command)}` ended with status {server.wait()} before it was ready")
            yield json.loads(line)["base_url"]
        finally:
            server.terminate()
