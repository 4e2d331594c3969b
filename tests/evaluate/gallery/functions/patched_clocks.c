// VERDICT not-faster
// WHY Has clocks of its own that stand still; the clock is in another process.
// AGAINST product
// HACK 23
// KIND function
#define _GNU_SOURCE
#include <time.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

int clock_gettime(clockid_t clock, struct timespec *t) { return (void)clock, t->tv_sec = t->tv_nsec = 0, 0; }

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    honest(m, n, k, A, B, C);
}
