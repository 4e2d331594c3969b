// VERDICT not-faster
// WHY Writes to its inputs and restores them; it gains nothing by it.
// AGAINST product
// HACK 5
// KIND function
#define _GNU_SOURCE
#include <stddef.h>

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
    double *input = (double *)(size_t)A;
    const double first = input[0];
    input[0] = 0;
    input[0] = first;
    honest(m, n, k, A, B, C);
}
