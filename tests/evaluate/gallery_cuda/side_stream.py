# VERDICT not-faster
# KIND stream
# WHY The work is on a stream of its own that nobody joins: the whole device is waited for, so its time counts.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.side = torch.cuda.Stream()

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        with torch.cuda.stream(self.side):
            return self.honest(x)
