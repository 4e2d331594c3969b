"""Searches: pure functions that select the states to expand next from all states reached so far.

A search has no I/O, no clock and no memory, so a resume only reads the record again.  ``width`` is the number of states
expanded (or of samples asked for) in one batch.  Every module names the source of its search and its departures.
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
