"""The rules of the policy ``modules``, in no particular order.

To add one, write a function that yields its edits of a unit (``maxcode.code.cpp.edit``) and put its row here; priors
are from trials on reduced KernelBench files.
"""

from __future__ import annotations

from maxcode.code.cpp.edit import Rule
from maxcode.policy.rules.modules.rules.fusing import fuse
from maxcode.policy.rules.modules.rules.layout import channels_last, in_place, inference_mode
from maxcode.policy.rules.modules.rules.reducing import pool, reduce
from maxcode.policy.rules.modules.rules.simplifying import simplify

_P = ("python",)
RULES = (
    Rule("simplify", simplify, 12.0, ("arithmetic", "loop"), _P, exact=False),
    Rule("fuse", fuse, 8.0, ("arithmetic", "cache"), _P, exact=False),
    Rule("reduce", reduce, 6.0, ("arithmetic", "cache"), _P, exact=False),
    Rule("pool", pool, 8.0, ("loop", "cache"), _P, exact=False),
    Rule("in_place", in_place, 1.0, ("allocation", "copy"), _P),
    Rule("channels_last", channels_last, 1.0, ("stride", "cache"), _P, exact=False),
    Rule("inference_mode", inference_mode, 0.3, ("call",), _P),
)
WRITE_CPP = frozenset({"fuse", "reduce", "pool"})  # for CPUs: useless for tensors on a GPU
