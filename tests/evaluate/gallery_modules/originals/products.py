"""Products of whole numbers."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randint(-2000, 2000, (192, 192)), torch.randint(-2000, 2000, (192, 192))]


def get_init_inputs():
    return []
