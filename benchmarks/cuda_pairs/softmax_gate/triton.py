"""The same in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax_gate(x, y, width, block: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, block)
    inside = tl.arange(0, block) < width
    row = tl.load(x + place, mask=inside, other=-float("inf"))
    power = tl.where(inside, tl.exp(0.5 * (row - tl.max(row, axis=0))), 0.0)
    tl.store(y + place, power / tl.sum(power, axis=0) * row, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        softmax_gate[(x.numel() // width,)](x, y, width, block=triton.next_power_of_2(width))
        return y
