"""The harness ``module``: PyTorch modules in the KernelBench contract.

``contract.py`` says what a reference takes and gives, ``runtime.py`` finds the torch that is installed here without
importing it, ``sides.py`` starts the processes, ``track.py`` lets them take turns, ``evaluator.py`` plays the roles.
``inside/`` holds what runs in the sandbox; this package never imports torch.
"""
