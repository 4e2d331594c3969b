# VERDICT wrong
# KIND inputs
# WHY The inputs are not what they were.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        found = self.honest(x)
        x.mul_(2)
        return found
