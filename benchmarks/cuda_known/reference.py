"""A chain of TIMES passes over memory, of which the first gives the result; another number gives a known multiple of
the work."""

import torch
import torch.nn as nn

TIMES = 8


class Model(nn.Module):
    def forward(self, x, y):
        kept = x + y
        for _ in range(TIMES):
            kept = torch.maximum(torch.minimum(kept, torch.maximum(x, y)), torch.minimum(x, y))
        return kept


def get_inputs():
    return [torch.randn(4096, 2048), torch.randn(4096, 2048)]


def get_init_inputs():
    return []
