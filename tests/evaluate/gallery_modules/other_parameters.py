# VERDICT wrong
# KIND contract
# WHY Parameters of another shape cannot be given the weights of the reference, and by seed they come out otherwise.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.first = nn.Parameter(torch.randn(width, width) / width)
        self.second = nn.Parameter(torch.randn(width, width) / width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        return torch.softmax(torch.relu(nn.functional.linear(x, self.first + self.second, self.layer.bias)), dim=-1)
