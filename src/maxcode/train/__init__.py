"""Training: policies by online RL (GRPO through TRL) on measured speed; in ``to_go``, value models from recorded runs.

    stages, archive -> prompts -> policy -> completions -> the one evaluator -> reward -> advantages -> policy

The second paper (arXiv 2602.12049): a policy writes C, the machine times it, GRPO learns from the GFLOPS.  The
evaluator is the one that searches use; the archive and the stages are the search's own (``search/``).  Everything
heavier than the core is imported where it is used, so that the command line starts without it.
"""

from maxcode.train.rewards import REWARDS, Gated, Paper, Shaped, TrainingReward

__all__ = ["REWARDS", "Gated", "Paper", "Shaped", "TrainingReward"]
