"""Built-in policies without a language model: rewriting rules, loop kernels, PyTorch modules."""
