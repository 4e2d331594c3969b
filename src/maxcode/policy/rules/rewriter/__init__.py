"""The built-in policy ``rewriter``: source-to-source rules for C++ and C.

text -> Unit -> edits (rules/) -> choice (notes.py, policy.py) -> applied (runtime/) -> text
"""

from maxcode.policy.rules.rewriter.policy import Rewriter
from maxcode.policy.rules.rewriter.reach import reachable
from maxcode.policy.rules.rewriter.rules import RULES, edits

__all__ = ["RULES", "Rewriter", "edits", "reachable"]
