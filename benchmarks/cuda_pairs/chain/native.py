"""One pass over memory in the place of five."""

import ctypes

import torch
import torch.nn as nn

from maxcode.native import load_cuda

LIBRARY = load_cuda(
    """
__global__ void chain(const float *x, float *y, long n) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long)blockDim.x)
        y[i] = tanhf(fmaxf(x[i] * 1.5f + 0.25f, 0.0f) - 0.5f) * x[i];
}

extern "C" void launch(const float *x, float *y, long n, void *stream) {
    chain<<<4096, 256, 0, (cudaStream_t)stream>>>(x, y, n);
}
"""
)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        LIBRARY.launch(
            ctypes.c_void_p(x.data_ptr()),
            ctypes.c_void_p(y.data_ptr()),
            ctypes.c_long(x.numel()),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        return y
