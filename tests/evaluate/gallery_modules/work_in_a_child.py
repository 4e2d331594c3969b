# VERDICT crashed
# KIND timing
# WHY A module may have threads but no children.
import os

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        if os.fork() == 0:
            os._exit(0)
        return self.honest(x)
