"""The same in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def centred(x, y, width, block: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, block)
    inside = tl.arange(0, block) < width
    row = tl.load(x + place, mask=inside, other=0.0)
    moved = tl.where(inside, row - tl.sum(row, axis=0) / width, 0.0)
    tl.store(y + place, moved / (tl.max(tl.abs(moved), axis=0) + 1e-6), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        centred[(x.numel() // width,)](x, y, width, block=triton.next_power_of_2(width))
        return y
