"""The presets ``METHOD/paper``: methods as MaxCode (arXiv 2601.05475) runs them, with its parts, its budget, its shape.

A method without ``/paper`` also shows what is ours.  A preset shows one such part, "setting", because the paper's task
texts name problem and hardware and are not published; ``METHOD/paper-setting`` leaves it out.  All presets show the
critique of the last program alone, as the paper's state holds it, and ask the critic about every candidate.  What is
ours in every method stays: answers that see no further gain, programs that a critic finds at a limit, and duplicates
that are asked again.  The paper publishes no prompts, so all texts are ours, the critic's too, which hold the machine
and the timed sizes.  It discounts nothing (gamma = 1) in its experiments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from maxcode.core.roles import Search
from maxcode.search.best_of_n import BestOfN
from maxcode.search.frames import Frame, cuda_llm
from maxcode.search.refine import Refine

PAPER = "/paper"
WIDTH = DEPTH = 8  # of CUDA-LLM in the paper, so 64 candidates
ROUNDS = 2  # of Effi-Learner in the paper
# parts that no state of the paper holds
OURS = frozenset({"setting", "machine", "measured", "run_best", "failures", "branches"})

_STATE = ("statement", "setting", "program", "feedback")
_ADDED = ("best", "trajectory", "critiques")  # what MaxCode adds, and its ablation switches off


@final
@dataclass(frozen=True, slots=True)
class Preset:
    """``method``: the method it is made of; ``budget``: candidates; ``search``: made for a frame; with a smaller budget
    the number of levels and their width shrink alike; ``departs``: what is not as in the paper, or not published."""

    method: str
    line: str
    parts: tuple[str, ...]
    budget: int
    search: Callable[[Frame], Search]
    departs: str = ""


def _paths(frame: Frame) -> Search:
    """As many paths as steps; ``WIDTH`` paths of ``DEPTH`` steps at the preset's own budget."""
    side = max(1, round(math.sqrt(frame.shape)))
    return Refine(depth=math.ceil(frame.budget / side), width=side)


_REPAIRS = "repairs count to the 64 candidates, so depth 8 is reached only without them"
_PROFILE = "the profile is of CPU time by line, without memory"
_LENGTH = f"the paper gives no length of a path; {DEPTH} is ours"


def _effi_learner(method: str, line: str, added: tuple[str, ...]) -> Preset:
    parts = (*_STATE, "profile", *added, "task")
    return Preset(method, line, parts, ROUNDS, lambda frame: Refine(depth=ROUNDS), _PROFILE)


_ALL = (
    Preset(
        "best-of-n",
        "64 independent samples, the paper's flat baseline",
        ("statement", "setting", "program", "task"),
        WIDTH * DEPTH,
        lambda frame: BestOfN(frame.budget, frame.budget),
    ),
    Preset("cuda-llm", "8 levels of 8 candidates, the paper's baseline", (*_STATE, "task"), 64, cuda_llm, _REPAIRS),
    Preset(
        "cuda-llm+maxcode",
        "8 levels of 8 candidates with the three parts of MaxCode",
        (*_STATE, *_ADDED, "task"),
        WIDTH * DEPTH,
        cuda_llm,
        _REPAIRS,
    ),
    _effi_learner("effi-learner", "2 rounds; the second refines the first candidate always, with its profile", ()),
    _effi_learner(
        "effi-learner+maxcode", "2 rounds; the second also sees the critique of the first candidate", ("critiques",)
    ),
    Preset(
        "refine+maxcode",
        "8 paths side by side: the rollouts from which the reward-to-go model learns",
        (*_STATE, "trajectory", "critiques", "task"),
        WIDTH * DEPTH,
        _paths,
        _LENGTH,
    ),
)
PRESETS: Mapping[str, Preset] = {one.method + PAPER: one for one in _ALL}
