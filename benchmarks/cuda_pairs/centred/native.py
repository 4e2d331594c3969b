"""A block of threads a row, whose values stay in registers and shared memory."""

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

__global__ void centred(const float *x, float *y, int width) {
    __shared__ float shared[8];
    extern __shared__ float kept[];
    float sum = 0, most = 0;
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += kept[j] = x[(size_t)blockIdx.x * width + j];
    const float mean = over_block(sum, shared) / width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) most = fmaxf(most, fabsf(kept[j] - mean));
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = most;
    __syncthreads();
    for (int i = 0; i < blockDim.x / 32; i++) most = fmaxf(most, shared[i]);
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        y[(size_t)blockIdx.x * width + j] = (kept[j] - mean) / (most + 1e-6f);
}

extern "C" void launch(const float *x, float *y, int rows, int width, void *stream) {
    centred<<<rows, 256, width * sizeof(float), (cudaStream_t)stream>>>(x, y, width);
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
            ctypes.c_int(x.numel() // x.shape[-1]),
            ctypes.c_int(x.shape[-1]),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        return y
