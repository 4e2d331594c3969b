"""The same in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_norm(x, y, weight, width, block: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, block)
    inside = tl.arange(0, block) < width
    row = tl.load(x + place, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(row * row, axis=0) / width + 1e-6)
    tl.store(y + place, row * scale * tl.load(weight + tl.arange(0, block), mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        rms_norm[(x.numel() // width,)](x, y, self.weight, width, block=triton.next_power_of_2(width))
        return y
