"""Admits the problem of a run on the machine or cluster that measures its candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from maxcode.core.types import Machine
from maxcode.evaluate.harness_protocol import SearchHarness
from maxcode.evaluate.ladder.prepare import Admitted
from maxcode.evaluate.machine.machine import BUSY, BUSY_NOTE, pressure
from maxcode.evaluate.target import Target
from maxcode.problems import Loaded
from maxcode.run.interrupts import run_async


@final
@dataclass(frozen=True, slots=True)
class Admission:
    """``harness`` evaluates candidates of the ``admitted`` problem; ``machine`` is where it measures; ``notes`` are
    for the reader of the result."""

    harness: SearchHarness
    admitted: Admitted
    machine: Machine
    notes: tuple[str, ...]


def admit(loaded: Loaded, target: Target, is_here: bool) -> Admission:
    """Builds, verifies and times the original; raises InputError if the problem cannot be used."""
    harness, admitted, machine = run_async(target.prepare, loaded.problem)
    return Admission(harness, admitted, machine, notes_on(loaded, admitted, is_here))


def notes_on(loaded: Loaded, admitted: Admitted, is_here: bool) -> tuple[str, ...]:
    """Notes on the problem, and on this machine if it is the one that measures."""
    return (*loaded.notes, *admitted.notes, *(_busy() if is_here else ()))


def _busy() -> tuple[str, ...]:
    waiting = pressure()
    if waiting is None or waiting < BUSY:
        return ()
    return (f"{BUSY_NOTE} (CPU pressure {waiting:.0f} %): intervals are wider than on an idle machine",)
