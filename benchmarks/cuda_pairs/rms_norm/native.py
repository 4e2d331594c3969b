"""A block of threads a row: read once, written once."""

import ctypes

import torch
import torch.nn as nn

from maxcode.native import load_cuda

LIBRARY = load_cuda(
    """
__device__ float over_block(float own, float *shared) {
    for (int step = 16; step > 0; step /= 2) own += __shfl_xor_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = own;
    __syncthreads();
    float all = 0;
    for (int i = 0; i < blockDim.x / 32; i++) all += shared[i];
    __syncthreads();
    return all;
}

__global__ void rms_norm(const float *x, float *y, const float *weight, int width) {
    __shared__ float shared[8];
    const float *row = x + (size_t)blockIdx.x * width;
    float sum = 0;
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += row[j] * row[j];
    const float scale = rsqrtf(over_block(sum, shared) / width + 1e-6f);
    float *out = y + (size_t)blockIdx.x * width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) out[j] = row[j] * scale * weight[j];
}

extern "C" void launch(const float *x, float *y, const float *weight, int rows, int width, void *stream) {
    rms_norm<<<rows, 256, 0, (cudaStream_t)stream>>>(x, y, weight, width);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        LIBRARY.launch(
            ctypes.c_void_p(x.data_ptr()),
            ctypes.c_void_p(y.data_ptr()),
            ctypes.c_void_p(self.weight.data_ptr()),
            ctypes.c_int(x.numel() // x.shape[-1]),
            ctypes.c_int(x.shape[-1]),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        return y
