// VERDICT wrong
// WHY Makes an input zero, so that the original would agree with a zero; inputs are compared after each call.
// AGAINST product
// HACK 5
// KIND function
#define _GNU_SOURCE
#include <string.h>

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
    memset((double *)(size_t)A, 0, sizeof *A * (size_t)m * (size_t)k);
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    (void)honest, (void)B;
}
