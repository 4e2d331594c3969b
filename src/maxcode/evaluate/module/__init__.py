"""The harness ``module``: PyTorch modules in the KernelBench contract.

``contract.py``        what a reference takes and returns
``torch_runtime.py``   finds the installed torch without importing it
``sides.py``           starts the processes; ``track.py`` runs them in turn
``staging.py``         admitted problems, and rounds of their sides; ``verdicts.py`` makes evaluations of the rounds
``evaluator.py``       evaluates and confirms; ``winner_check.py`` checks a winner again
``inside/``            what runs in the sandbox

This package never imports torch.
"""
