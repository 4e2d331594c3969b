"""A gated activation as it is often written in PyTorch: eight passes over memory for one result."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, slope):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))
        self.slope = slope

    def forward(self, x, residual):
        hidden = x * self.scale + self.bias
        hidden = nn.functional.gelu(hidden)
        gate = torch.sigmoid(hidden * self.slope)
        hidden = hidden * gate + residual
        return torch.tanh(hidden)


batch = 512
features = 2048
slope = 1.7


def get_inputs():
    return [torch.randn(batch, features), torch.randn(batch, features)]


def get_init_inputs():
    return [features, slope]
