# VERDICT wrong
# KIND weights
# WHY Weights of its own in the place of those that it is given.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.own = torch.randn(width, width)

    def forward(self, x):
        return torch.softmax(torch.relu(x @ self.own.to(x.device)), dim=-1)
