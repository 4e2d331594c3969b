"""What the admission of a module found out, in the form in which it is kept for later commands, for a day at most.

Kept are properties of the reference: what it takes and returns, about how long a call takes, why a candidate could pass
without doing the work, and what prompts tell.  None of it decides a race, where the reference runs beside the
candidate.  Weights, seeds and the values of every call are drawn anew by every command.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from maxcode.core.types import Hotspot
from maxcode.evaluate.ladder.kept_admissions import SYSTEM, stamps
from maxcode.evaluate.ladder.kept_builds import libraries
from maxcode.evaluate.ladder.own_folder import stamp
from maxcode.evaluate.module.contract import Contract
from maxcode.evaluate.module.torch_runtime import Runtime

FOLDER = "contracts"  # of the cache


@final
@dataclass(frozen=True, slots=True)
class LearnedContract:
    """``seconds``: of a warm call.  ``reasons``: why it is degenerate.  ``profile``, ``far_gbs``: for prompts.
    ``all_s``: wall seconds of the admission."""

    contract: Contract
    seconds: float
    reasons: tuple[str, ...]
    profile: tuple[Hotspot, ...]
    far_gbs: float
    all_s: float


def parts(runtime: Runtime) -> dict[str, Iterable[str]]:
    """What it rests on besides what each admission does."""
    return {
        SYSTEM: (stamp(Path(runtime.python)), *libraries()),
        "a package beside torch": stamps(str(folder) for folder, _ in runtime.binds),
    }
