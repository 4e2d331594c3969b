# VERDICT wrong
# KIND timing
# WHY At the word the process stands still with all its threads, and the output is read as it is.
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn as nn

workers = ThreadPoolExecutor(2)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.waiting = []

    def honest(self, x, place):
        for _ in range(20):
            found = torch.softmax(torch.relu(self.layer(x)), dim=-1)
        place.copy_(found)

    def forward(self, x):
        found = torch.full_like(x, 0.5)
        self.waiting.append(workers.submit(self.honest, x, found))
        return found
