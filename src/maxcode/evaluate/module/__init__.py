"""The harness ``module``: PyTorch modules in the KernelBench contract.

``contract.py`` says what a reference takes and gives, ``torch_runtime.py`` finds the torch that is installed here
without importing it, ``sides.py`` starts the processes, ``track.py`` lets them take turns, ``staging.py`` keeps
admitted problems and runs rounds, ``verdicts.py`` says what these come to, ``evaluator.py`` plays the roles,
``winner_check.py`` checks a winner again.
``inside/`` holds what runs in the sandbox; this package never imports torch.
"""
