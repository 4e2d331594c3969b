# VERDICT wrong
# KIND cache
# WHY The second call has other numbers in the same shape.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.kept = None

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        if self.kept is None:
            self.kept = self.honest(x)
        return self.kept
