// VERDICT faster
// WHY Threads of OpenMP where the wall clock is the goal.
// AGAINST product_wall
// HACK 61
// KIND honest
#include <string.h>

#include "product.h"

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
#pragma omp parallel for
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}
