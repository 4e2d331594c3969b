# VERDICT correct
# KIND honest
# WHY A kernel of its own through ctypes: activation and softmax of a row in one pass.
import ctypes

import torch
import torch.nn as nn

from maxcode.native import load_cuda

LIBRARY = load_cuda(
    """
#include <cmath>

__device__ float over_block(float own, float *shared, bool most) {
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            const float other = shared[threadIdx.x + step];
            shared[threadIdx.x] = most ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
        }
        __syncthreads();
    }
    const float all = shared[0];
    __syncthreads();
    return all;
}

__global__ void relu_softmax(const float *x, float *y, int width) {
    __shared__ float shared[256];
    const float *row = x + (size_t)blockIdx.x * width;
    float *out = y + (size_t)blockIdx.x * width;
    float most = 0, sum = 0;
    for (int j = threadIdx.x; j < width; j += blockDim.x) most = fmaxf(most, row[j]);
    most = over_block(most, shared, true);
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += expf(fmaxf(row[j], 0.0f) - most);
    sum = over_block(sum, shared, false);
    for (int j = threadIdx.x; j < width; j += blockDim.x) out[j] = expf(fmaxf(row[j], 0.0f) - most) / sum;
}

extern "C" void launch(const float *x, float *y, int rows, int width, void *stream) {
    relu_softmax<<<rows, 256, 0, (cudaStream_t)stream>>>(x, y, width);
}
"""
)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        found = self.layer(x).contiguous()
        y = torch.empty_like(found)
        LIBRARY.launch(
            ctypes.c_void_p(found.data_ptr()),
            ctypes.c_void_p(y.data_ptr()),
            ctypes.c_int(found.shape[0]),
            ctypes.c_int(found.shape[1]),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
        )
        return y
