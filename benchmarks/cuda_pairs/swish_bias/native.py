"""One pass; bias and scale stay in the cache."""

import ctypes

import torch
import torch.nn as nn

from maxcode.native import load_cuda

LIBRARY = load_cuda(
    """
__global__ void swish_bias(const float *x, float *y, const float *bias, const float *scale, int rows, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const float shifted = x[(size_t)i * width + j] + bias[j];
        y[(size_t)i * width + j] = shifted / (1.0f + expf(-shifted)) * scale[j];
    }
}

extern "C" void launch(const float *x, float *y, const float *bias, const float *scale, int rows, int width,
                       void *stream) {
    swish_bias<<<dim3((width + 255) / 256, 1024), 256, 0, (cudaStream_t)stream>>>(x, y, bias, scale, rows, width);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(width))
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        LIBRARY.launch(
            ctypes.c_void_p(x.data_ptr()),
            ctypes.c_void_p(y.data_ptr()),
            ctypes.c_void_p(self.bias.data_ptr()),
            ctypes.c_void_p(self.scale.data_ptr()),
            ctypes.c_int(x.numel() // x.shape[-1]),
            ctypes.c_int(x.shape[-1]),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        return y
