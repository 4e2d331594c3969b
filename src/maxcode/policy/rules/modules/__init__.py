"""The built-in policy for PyTorch modules that needs no model: fixed rules on what forward does, and C++ templates.

text -> Sheet (sheet.py: forward as one operation a line) -> what the operations are (operations.py, shapes.py) ->
edits (rules/) -> text (writing.py).  What the sheet cannot read it leaves alone.
"""

from maxcode.policy.rules.modules.policy import Modules
from maxcode.policy.rules.modules.rules import RULES

MODULE_RULES = {rule.name: rule.summary for rule in RULES}

__all__ = ["MODULE_RULES", "Modules"]
