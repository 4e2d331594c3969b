# VERDICT wrong
# KIND output
# WHY One NaN among right numbers is enough.
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
        found[7, 11] = float("nan")
        return found
