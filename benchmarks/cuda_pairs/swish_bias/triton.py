"""The same in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def swish_bias(x, y, bias, scale, width, block: tl.constexpr):
    column = tl.arange(0, block)
    place = tl.program_id(0).to(tl.int64) * width + column
    inside = column < width
    shifted = tl.load(x + place, mask=inside) + tl.load(bias + column, mask=inside)
    gate = 1.0 / (1.0 + tl.exp(-shifted))
    tl.store(y + place, shifted * gate * tl.load(scale + column, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        swish_bias[(x.numel() // width,)](x, y, self.bias, self.scale, width, block=triton.next_power_of_2(width))
        return y
