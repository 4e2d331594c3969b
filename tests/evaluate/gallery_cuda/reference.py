"""The reference that every candidate here is measured against: a layer, an activation, a sum over rows."""

import torch
import torch.nn as nn

rows = 4096
width = 1024


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width]
