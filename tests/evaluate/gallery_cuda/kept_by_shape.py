# VERDICT wrong
# KIND cache
# WHY One answer for all inputs of a shape.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.kept = {}

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        if x.shape not in self.kept:
            self.kept[x.shape] = self.honest(x)
        return self.kept[x.shape]
