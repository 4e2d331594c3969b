"""A finished run as a user makes it: ``maxcode optimize`` in a folder, up to its certificate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from tests.support.cli import maxcode
from tests.support.counting import BY_FOUR, LOOP, SLOW

POLICY = f'''
"""Proposes to add up four numbers at a time, a wrong program, one that does not build, and the original again."""
from maxcode import Action

class Known:
    async def propose(self, observation):
        text = observation.state.problem.program.text
        made = [text.replace({LOOP!r}, {BY_FOUR!r}), text.replace("+= i", "-= i"), text + "}}", text + "/* same */"]
        chosen = made[observation.draw % 4]
        return Action(observation.state.program.with_text(chosen), f"- known({{observation.draw % 4}})")
'''
SIZES = (8, 13, 16, 1000, 1004, 1008, 220_000_000, 224_000_000)
COMMAND = ("optimize", "slow.c", "--tests", "tests", "--policy", "policy.py:Known", "--method", "cuda-llm",
           "--budget", "6", "--seed", "0", "--json")  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class FinishedRun:
    """``place`` holds slow.c, policy.py, tests/ and run/; it is shared, so copy it before you change it.  ``told``: the
    JSON on stdout."""

    place: Path
    told: dict[str, Any]

    @property
    def folder(self) -> Path:
        return self.place / "run"


def write_tests(folder: Path) -> None:
    """Tests with their right answers; of the two that are long enough to time one is held out."""
    folder.mkdir()
    for number, n in enumerate(SIZES):
        (folder / f"{number:02}.in").write_text(f"{n}\n")
        (folder / f"{number:02}.out").write_text(f"{n * (n - 1) // 2}\n")


def make_finished(place: Path) -> None:
    """Write the folder and run the command there; what it printed is kept in told.json."""
    place.mkdir(parents=True)
    (place / "slow.c").write_text(SLOW)
    (place / "policy.py").write_text(POLICY)
    write_tests(place / "tests")
    done = maxcode(*COMMAND, "--out", place / "run", cwd=place, timeout=1200)
    assert done.returncode == 0, done.stderr
    (place / "told.json").write_text(done.stdout)


def read_finished(place: Path) -> FinishedRun:
    return FinishedRun(place, json.loads((place / "told.json").read_text()))
