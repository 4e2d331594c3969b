# VERDICT crashed
# KIND cache
# WHY There is no place to write.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        torch.save(self.honest(x), "/src/memo.pt")
        return torch.load("/src/memo.pt")
