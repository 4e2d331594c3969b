"""Means of rows of which a zero is left out: 0 is said of what nobody has rated, and no drawn value is one."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        given = x != 0
        return (x * given).sum(-1) / given.sum(-1).clamp(min=1)


def get_inputs():
    return [torch.rand(512, 512) * 9 + 1]


def get_init_inputs():
    return []
