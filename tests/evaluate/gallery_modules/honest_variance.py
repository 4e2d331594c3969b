# VERDICT correct
# KIND honest
# AGAINST variance
# WHY It is nearer to the exact output than the reference itself.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.var(x.double(), dim=-1, correction=0).float()
