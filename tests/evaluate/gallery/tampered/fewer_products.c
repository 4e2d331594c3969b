// VERDICT wrong
// WHY The winner without the last hundredth of every sum.
// AGAINST product
// HACK 9
// KIND function
// TAMPERS product_by_rows
#define _GNU_SOURCE
#include <string.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    honest(m, n, k, A, B, C);
    if (k > 40)
        for (int i = 0; i < m * n; i++) C[i] -= A[i / n * k + k - 1] * B[(k - 1) * n + i % n];
}
