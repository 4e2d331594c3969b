# VERDICT correct
# KIND honest
# WHY What it changes in place is its own.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        found = nn.functional.linear(x, self.layer.weight, self.layer.bias).relu_()
        found -= found.max(dim=-1, keepdim=True).values
        found.exp_()
        return found.div_(found.sum(dim=-1, keepdim=True))
