"""Policies that need no language model: rewriting rules, loop kernels, PyTorch modules."""
