"""The built-in policy for numeric kernels: loop transformations and one tuned template.

text -> Kernel (nest.py) -> what may be reordered (legality.py) -> edits (orders, hints, product, ...) -> text
"""

from maxcode.policy.rules.kernels.policy import Kernels
from maxcode.policy.rules.kernels.schedule import applied
from maxcode.policy.rules.kernels.steps import STEPS, Permitted

__all__ = ["STEPS", "Kernels", "Permitted", "applied"]
