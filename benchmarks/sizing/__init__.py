"""Predicts the time of a run on many slots: costs from recorded runs, a discrete-event model of search and of GRPO."""
