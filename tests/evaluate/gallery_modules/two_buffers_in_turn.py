# VERDICT wrong
# KIND output
# WHY An output must stay as it is until the round is over; here the next call but one overwrites it.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.buffers = [torch.empty(96, 160), torch.empty(96, 160)]

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        self.buffers.reverse()
        return self.buffers[0].copy_(self.honest(x))
