"""Rows less their mean, over their largest magnitude: two reductions and two passes."""

import torch
import torch.nn as nn

rows = 8192
width = 2048


class Model(nn.Module):
    def forward(self, x):
        moved = x - x.mean(dim=-1, keepdim=True)
        return moved / (moved.abs().amax(dim=-1, keepdim=True) + 1e-6)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
