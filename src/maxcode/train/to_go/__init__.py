"""Trains value models (reward-to-go) from recorded runs.

runs -> pairs -> data set (sides by problem, labels by suite) -> model -> figures on held-out problems
"""

from maxcode.train.to_go.training import Trained, Training, train_to_go

__all__ = ["Trained", "Training", "train_to_go"]
