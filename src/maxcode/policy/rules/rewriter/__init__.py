"""The built-in policy ``rewriter``: source-to-source rules for C++, C and Python.

text -> Unit -> edits (rules/) -> choice (notes.py, policy.py) -> applied (runtime/) -> text
"""

from maxcode.policy.rules.rewriter.policy import LANGUAGES, Rewriter, can_edit, rules_seen, unit_of
from maxcode.policy.rules.rewriter.reach import reachable
from maxcode.policy.rules.rewriter.rules import RULES, USUAL_RULES, chosen_rules, edits

__all__ = [
    "LANGUAGES",
    "RULES",
    "USUAL_RULES",
    "Rewriter",
    "can_edit",
    "chosen_rules",
    "edits",
    "reachable",
    "rules_seen",
    "unit_of",
]
