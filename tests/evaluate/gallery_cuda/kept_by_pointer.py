# VERDICT wrong
# KIND cache
# WHY Inputs come to lie at addresses that were used before; its answers belong to those.
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
        key = x.data_ptr()
        if key not in self.kept:
            self.kept[key] = self.honest(x)
        return self.kept[key]
