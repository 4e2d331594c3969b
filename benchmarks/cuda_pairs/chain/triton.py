"""The same in Triton."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def chain(x, y, width, block: tl.constexpr):
    place = tl.program_id(0).to(tl.int64) * width + tl.arange(0, block)
    inside = tl.arange(0, block) < width
    own = tl.load(x + place, mask=inside)
    bent = tl.maximum(own * 1.5 + 0.25, 0.0) - 0.5
    power = tl.exp(-2.0 * tl.abs(bent))
    tanh = (1.0 - power) / (1.0 + power)
    tl.store(y + place, tl.where(bent < 0, -tanh, tanh) * own, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        width = x.shape[-1]
        chain[(x.numel() // width,)](x, y, width, block=triton.next_power_of_2(width))
        return y
