"""Small problems of our own in the KernelBench contract, and a checkout that holds them."""

from __future__ import annotations

import json
from pathlib import Path

HALF = '''"""x / 2"""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x / 2

batch_size = 4096 * 2
dim = 4096

def get_inputs():
    return [torch.rand(batch_size, dim)]

def get_init_inputs():
    return []
'''
OTHER = HALF.replace("x / 2", "x + 2")


def checkout(folder: Path) -> Path:
    """A repository: two problems of level 1, one of level 2."""
    for level, name, text in ((1, "1_Half.py", HALF), (1, "12_Other.py", OTHER), (2, "3_Half_Again.py", HALF)):
        path = folder / "KernelBench" / f"level{level}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def rows(path: Path) -> Path:
    """The same as the published data set has it: names without .py."""
    found = [
        {"code": HALF, "level": 1, "name": "1_Half", "problem_id": 1},
        {"code": OTHER, "level": 1, "name": "12_Other", "problem_id": 12},
        {"code": HALF, "level": 2, "name": "3_Half_Again", "problem_id": 3},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path
