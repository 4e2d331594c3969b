# VERDICT rejected
# KIND contract
# WHY There is no ModelNew in it.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        return self.honest(x)
