// VERDICT rejected
// WHY Calls a BLAS that would be linked.
// AGAINST product
// HACK 34
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

void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    cblas_dgemm(101, 111, 111, m, n, k, 1.0, A, k, B, n, 0.0, C, n);
    return;
    honest(m, n, k, A, B, C);
}
