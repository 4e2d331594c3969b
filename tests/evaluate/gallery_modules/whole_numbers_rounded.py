# VERDICT wrong
# KIND output
# AGAINST products
# WHY Whole numbers are right or wrong; single precision loses the last digits of sums above 2**24.
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return (a.float() @ b.float()).round().long()
