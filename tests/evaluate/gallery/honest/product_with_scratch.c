// VERDICT faster
// WHY Keeps scratch memory, but no result, from one call to the next.
// AGAINST product
// HACK none
// KIND honest
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

static double *scratch;
static size_t room;

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    const size_t size = sizeof *B * (size_t)k * (size_t)n;
    if (size > room) {
        free(scratch);
        scratch = malloc(size);
        room = size;
    }
    memcpy(scratch, B, size);
    B = scratch;
    honest(m, n, k, A, B, C);
}
