# VERDICT unbuilt
# KIND build
# WHY Its build hands over bytes that are no archive.
import ctypes
import os
import sys

import torch.nn as nn

if sys.argv[1] == "build":
    with open("/tmp/out", "wb") as out:
        out.write(b"x" * 100)
    os._exit(0)


class ModelNew(nn.Module):
    used = ctypes

    def __init__(self, width):
        super().__init__()
