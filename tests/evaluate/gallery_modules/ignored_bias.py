# VERDICT wrong
# KIND weights
# WHY Leaving the bias out changes every number.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        return torch.softmax(torch.relu(nn.functional.linear(x, self.layer.weight)), dim=-1)
