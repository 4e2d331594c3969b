"""Training: policies by online RL (GRPO through TRL) on measured speed; value models from recorded runs (``to_go``).

    stages, archive -> prompts -> policy -> completions -> the evaluator -> reward -> advantages -> policy

The second paper (arXiv 2602.12049): a policy writes C, the machine times it, GRPO learns from the GFLOPS.  The
evaluator is that of the searches; the archive and the stages are those of ``search/``.  Packages heavier than the core
are imported at first use, so that the command line starts without them.
"""

from maxcode.train.rewards import REWARDS, Gated, Paper, Shaped, TrainingReward

__all__ = ["REWARDS", "Gated", "Paper", "Shaped", "TrainingReward"]
