// VERDICT wrong|crashed
// WHY Writes past its output; what lies around the arrays is looked at.
// AGAINST product
// HACK 51
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
    C[m * n] = 1;
    honest(m, n, k, A, B, C);
}
