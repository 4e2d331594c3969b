// VERDICT wrong|crashed
// WHY Says done itself and works on; the process is stopped and its outputs are taken (whether as wrong or too many answers is up to the time).
// AGAINST product
// HACK 22
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
    char word = 'd';
    if (m == 72 && write(6, &word, 1) != 1) return;
    honest(m, n, k, A, B, C);
}
