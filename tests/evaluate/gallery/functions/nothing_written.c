// VERDICT wrong
// WHY Writes nothing, as if the memory still held the right result; outputs are poisoned before each call.
// AGAINST product
// HACK 4
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
    (void)honest, (void)m, (void)n, (void)k, (void)A, (void)B, (void)C;
}
