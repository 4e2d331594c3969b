"""Gives its input: a reference that asks for nothing."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.randn(256, 256)]


def get_init_inputs():
    return []
