# VERDICT wrong
# KIND precision
# WHY Eight bits of mantissa are a hundred times less exact than the tolerance.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        weight, bias = self.layer.weight.bfloat16(), self.layer.bias.bfloat16()
        return torch.softmax(torch.relu(nn.functional.linear(x.bfloat16(), weight, bias)), dim=-1).float()
