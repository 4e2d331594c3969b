// VERDICT faster
// WHY Its helper takes pointers to rows and is called like a routine of a BLAS, which is not there.
// AGAINST product
// HACK none: an honest winner
// KIND honest
#include <string.h>

#include "product.h"

#define row_gemv_(to, times, from, count) \
    for (int j = 0; j < (count); j++) (to)[j] += (times) * (from)[j]

static void rows_gemm_(int m, int n, int k, const double (*A)[k], const double (*B)[n], double (*C)[n]) {
    memset(C, 0, sizeof **C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++) row_gemv_(C[i], A[i][p], B[p], n);
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    rows_gemm_(m, n, k, (const double (*)[k])A, (const double (*)[n])B, (double (*)[n])C);
}
