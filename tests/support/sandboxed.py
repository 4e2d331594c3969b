"""What the tests of the sandbox share: where the attacks are, and the limits they are run with."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import anyio

from maxcode.sandbox import selftest
from maxcode.sandbox.sandbox import Job, Ran, Sandbox

ATTACKS = Path(__file__).parents[1] / "sandbox" / "attacks"
SOURCES = Path(selftest.__file__).parent
RUN = Job(("{artefact}",), cpu_s=2.0, wall_s=8.0, memory_mb=256, output_mb=4)

Attack = Callable[..., list[Ran]]


def let_others_in(folder: Path) -> None:
    """Open a folder of pytest's, and those above it up to the one for temporary files, to the sandbox's user."""
    temporary = Path(tempfile.gettempdir())
    for path in (folder, *folder.parents):
        if path == temporary or not path.is_relative_to(temporary):
            return
        path.chmod(0o755)


def weakened(folder: Path, file: str, strong: str, weak: str) -> Path:
    """The shim, built with one of its protections taken away."""
    for path in (*SOURCES.glob("shim*.h"), SOURCES / "shim.c"):
        text = path.read_text()
        if path.name == file:
            assert strong in text
            text = text.replace(strong, weak)
        (folder / path.name).write_text(text)
    subprocess.run(["gcc", "-std=gnu17", "-O1", "-w", folder / "shim.c", "-o", folder / "shim"], check=True)
    return folder / "shim"


def failures(sandbox: Sandbox) -> dict[str, str]:
    return {found.attack: found.detail for found in anyio.run(selftest.self_test, sandbox) if not found.held}
