"""Names to objects: what the command line calls by name.  Python users pass objects and never need this file.

``path/to/file.py:name`` works wherever a policy's name does: the file is run in this process, so it must be yours.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast, final

from maxcode.errors import InputError, unknown
from maxcode.policy.kernels import Kernels
from maxcode.policy.rewriter import Rewriter
from maxcode.roles import Policy

POLICIES: dict[str, tuple[Callable[[], Policy], str]] = {
    "rewriter": (Rewriter, "built in, rule-based, no language model; knows fixed rules and cannot invent an algorithm"),
    "kernels": (Kernels, "built in, no language model; loop transformations and tuned templates for C and C++ kernels"),
}


@final
@dataclass(frozen=True, slots=True)
class Usual:
    """What is used for a kind of problem where the user names nothing."""

    policy: str
    method: str


# A greedy beam is caught early where one step forecloses another, as loop transformations do: benchmarks/kernels.py.
USUAL = {"program": Usual("rewriter", "cuda-llm+maxcode"), "function": Usual("kernels", "elites+maxcode")}


def policy(name: str) -> Policy:
    """The policy called ``name``, or the object ``name`` of ``path/to/file.py:name``."""
    if ":" in name:
        return _from_file(name)
    if name not in POLICIES:
        raise unknown("policy", name, POLICIES)
    return POLICIES[name][0]()


def _from_file(reference: str) -> Policy:
    path, _, name = reference.rpartition(":")
    if not Path(path).is_file():
        raise InputError(f"no such file: {path} (from the policy '{reference}'); give path/to/file.py:name")
    found = runpy.run_path(path)
    if name not in found:
        raise InputError(f"{path} defines no '{name}'; it defines {', '.join(k for k in found if k[0] != '_')}")
    made = found[name]
    return cast(Policy, made() if isinstance(made, type) else made)
