# VERDICT wrong
# KIND graph
# WHY A graph is captured once and played again on the inputs that it was captured with.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.graph = None

    def honest(self, x):
        return torch.softmax(torch.relu(self.layer(x)), dim=-1)

    def forward(self, x):
        if self.graph is None:
            self.given = x.clone()
            self.honest(self.given)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.found = self.honest(self.given)
        self.graph.replay()
        return self.found.clone()
