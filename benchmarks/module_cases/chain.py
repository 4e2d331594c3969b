"""Elementwise operations on 64 x 512 numbers: dispatch is most of it."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(features) + 0.5)

    def forward(self, x):
        return torch.tanh(x * self.scale + 0.1 * x * x)


def get_inputs():
    return [torch.randn(64, 512)]


def get_init_inputs():
    return [512]
