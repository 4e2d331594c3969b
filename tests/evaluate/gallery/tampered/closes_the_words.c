// VERDICT crashed
// WHY Closes the pipe that tells it to go on, so that whoever writes to it next may be killed by a signal.
// AGAINST product
// HACK 40
// KIND function
// TAMPERS product_by_rows
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    static int calls;
    if (m == 72 && ++calls == 3) close(5);
    honest(m, n, k, A, B, C);
}
