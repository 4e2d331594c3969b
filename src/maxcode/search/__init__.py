"""Where to go next: pure functions of all that has been reached.

A search has no I/O, no clock and no memory, so resuming is reloading the record.  ``width`` is the number of states
expanded (or proposals drawn) in one batch.  Every module says where its search comes from and where it departs.
"""

from __future__ import annotations

from maxcode.search.beam import Beam
from maxcode.search.best_of_n import BestOfN
from maxcode.search.cuda_llm import CudaLlm
from maxcode.search.effi_learner import EffiLearner
from maxcode.search.elites import Elites
from maxcode.search.perfcodegen import PerfCodeGen
from maxcode.search.refine import Refine
from maxcode.search.tree import Tree

__all__ = ["Beam", "BestOfN", "CudaLlm", "EffiLearner", "Elites", "PerfCodeGen", "Refine", "Tree"]
