"""Critics: from an evaluation to a diagnosis in words.  They run nothing: profiles are fields of the evaluation."""

from maxcode.observe.critique.critique_answer import Bottleneck, CritiqueAnswer, Unreadable, read
from maxcode.observe.critique.llm_critic import LlmCritic
from maxcode.observe.critique.rule_critic import RuleCritic, diagnose

__all__ = [
    "Bottleneck",
    "CritiqueAnswer",
    "LlmCritic",
    "RuleCritic",
    "Unreadable",
    "diagnose",
    "read",
]
