# VERDICT wrong
# KIND precision
# WHY Three digits are not enough, however small the numbers are.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        return torch.round(self.honest(x), decimals=5)
