# VERDICT correct
# KIND honest
# AGAINST same
# WHY The reference gives its input too; the result says that it is degenerate.
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x
