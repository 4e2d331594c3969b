"""A run that version 0.1 wrote (tests/data/run-0.1), as if it had been written on this machine.

`finished` has a winner and its certificate; `interrupted` was killed after two of four candidates.  Both were made with
`maxcode optimize slow.cpp --tests tests --method best-of-n --budget N`, the latter with --no-certificate; report.html
was removed, and node and kernel were given other names.
"""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import asdict
from pathlib import Path

import anyio
import tomli_w

from maxcode.evaluate.machine.machine import describe
from maxcode.sandbox.sandbox import Sandbox

DATA = Path(__file__).parents[1] / "data" / "run-0.1"


def run_of_0_1(folder: Path) -> Path:
    """A copy below ``folder``: slow.cpp, tests/, and the run folders `finished` and `interrupted`.  Their run.toml
    names this machine, because a run resumes on its own machine only."""
    place = shutil.copytree(DATA, folder / "run01")  # the folder gives the problem its name
    machine = describe(anyio.run(Sandbox.open).describe())
    for name in ("finished", "interrupted"):
        path = place / name / "run.toml"
        header = tomllib.loads(path.read_text())
        header |= {"machine": asdict(machine), "sandbox": machine.sandbox}
        path.write_text(tomli_w.dumps(header))
    return place
