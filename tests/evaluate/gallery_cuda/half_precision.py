# VERDICT wrong
# KIND precision
# WHY The product is taken in half precision.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        found = nn.functional.linear(x.half(), self.layer.weight.half(), self.layer.bias.half())
        return torch.softmax(torch.relu(found.float()), dim=-1)
