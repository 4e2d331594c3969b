"""The built-in policy for PyTorch modules: fixed rules on the operations of forward, and C++ templates.

text -> Sheet (sheet.py: forward as one operation a line) -> the kinds of operations (operations.py, shapes.py) ->
edits (rules/) -> text (writing.py).  Code that the sheet cannot read stays unchanged.
"""

from maxcode.policy.rules.modules.policy import Modules
from maxcode.policy.rules.modules.rules import RULES

MODULE_RULES = {rule.name: rule.summary for rule in RULES}

__all__ = ["MODULE_RULES", "Modules"]
