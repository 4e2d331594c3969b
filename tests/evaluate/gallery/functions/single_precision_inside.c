// VERDICT wrong
// WHY Multiplies and adds in single precision.
// AGAINST product
// HACK 8
// KIND function
#define _GNU_SOURCE
#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    float sum;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            sum = 0;
            for (int p = 0; p < k; p++) sum += (float)A[i * k + p] * (float)B[p * n + j];
            C[i * n + j] = sum;
        }
    (void)honest;
}
