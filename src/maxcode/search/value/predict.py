"""A model in the roles ``Value`` (after execution) and ``PriorValue`` (before it)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

import anyio

from maxcode.core.files import RECORD_AT_MOST, FileKind, read_file
from maxcode.core.roles import Compiler
from maxcode.core.types import Action, MachineCode, Problem, State
from maxcode.search.value.baselines import BusiestLoop
from maxcode.search.value.model_folder import FILE, Saved, files_of, read
from maxcode.search.value.settings import Generative
from maxcode.search.value.situation import Predictor, drawn, situation

UNTRAINED = "busiest-loop"


@final
@dataclass(frozen=True, slots=True)
class ValueRoles:
    """A predictor in both roles.  It predicts an expected class, not a speed-up; a search uses only the order.  Models
    work in a thread, so that builds and timings continue meanwhile.

    With a ``compiler``, a candidate before execution is built first; without one, its text alone is used.
    """

    predictor: Predictor
    gamma: float = 1.0
    compiler: Compiler | None = None

    async def estimate(self, states: Sequence[State]) -> list[float]:
        """V(s, u) of executed states."""
        seen = [situation(state, self.gamma, await self._original(state.problem)) for state in states]
        return await anyio.to_thread.run_sync(partial(self.predictor.expected, seen))

    async def foresee(self, state: State, actions: Sequence[Action]) -> list[float]:
        """V of candidates sampled for ``state``, before they are executed."""
        original = await self._original(state.problem)
        codes = [await self._code(state.problem, action) for action in actions]
        seen = [drawn(state, action, self.gamma, code, original) for action, code in zip(actions, codes, strict=True)]
        return await anyio.to_thread.run_sync(partial(self.predictor.expected, seen))

    async def _original(self, problem: Problem) -> MachineCode | None:
        return await self._code(problem, Action(problem.program))

    async def _code(self, problem: Problem, action: Action) -> MachineCode | None:
        return None if self.compiler is None else await self.compiler.machine_code(problem, action)


def load(folder: Path) -> ValueRoles:
    """The value model in a folder, or ``busiest-loop``, which needs no folder.  InputError if it, or one of its files,
    cannot be used; the check is here because a search uses the model only after its first batch."""
    if _is_untrained(folder):
        return ValueRoles(BusiestLoop())
    saved = read(folder)
    return ValueRoles(predictor(folder, saved), saved.gamma)


def predictor(folder: Path, saved: Saved) -> Predictor:
    """The predictor in a folder, opened; only a generative one imports torch."""
    if isinstance(saved.model, Generative):
        from maxcode.search.value.generative import open_network

        return open_network(folder, saved.model)
    return saved.model


def _is_untrained(folder: Path) -> bool:
    return str(folder) == UNTRAINED and not folder.exists()


def digest(folder: Path) -> str:
    """SHA-256, hexadecimal, over the model's files, for the record; for a model without files its name."""
    if _is_untrained(folder):
        return UNTRAINED
    names = files_of(read(folder).model)
    total = hashlib.sha256(_content(folder / FILE))
    for name in names:
        total.update(name.encode() + _content(folder / name))
    return total.hexdigest()


def _content(path: Path) -> bytes:
    return read_file(path, FileKind(cure="train the model again", at_most=RECORD_AT_MOST))
