"""A softmax over rows that gates its own input."""

import torch
import torch.nn as nn

rows = 8192
width = 1024


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x * 0.5, dim=-1) * x


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
