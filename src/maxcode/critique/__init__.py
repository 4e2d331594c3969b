"""From an evaluation to a diagnosis in words.  Critics run nothing: profiles are fields of the evaluation."""

from maxcode.critique.rules import RuleCritic, diagnose

__all__ = ["RuleCritic", "diagnose"]
