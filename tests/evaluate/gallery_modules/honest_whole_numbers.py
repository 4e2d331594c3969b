# VERDICT correct
# KIND honest
# AGAINST products
# WHY Double precision holds every sum of these products exactly.
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return (a.double() @ b.double()).long()
