#include "gemm_tn.h"

void gemm_tn(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[p * m + i] * B[p * n + j];
            C[i * n + j] = sum;
        }
}
