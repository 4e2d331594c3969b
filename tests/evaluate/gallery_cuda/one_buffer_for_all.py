# VERDICT wrong
# KIND cache
# WHY Every call gives the same memory, so that the answer before is lost.
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
        found = self.honest(x)
        if self.kept is None:
            self.kept = torch.empty_like(found)
        return self.kept.copy_(found)
