"""Training: what learns from recorded runs.  Everything heavier than the core is imported where it is used.

runs -> pairs -> data set (sides by problem, labels by suite) -> model -> figures on held-out problems
"""
