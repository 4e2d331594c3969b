// VERDICT not-faster
// WHY Switches rounding and the flushing of small numbers for good; that changes nothing here, and nothing elsewhere.
// AGAINST product
// HACK 59
// KIND function
#define _GNU_SOURCE
#include <fenv.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    fesetround(FE_TOWARDZERO);
    #ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | 0x8040);
    #endif
    honest(m, n, k, A, B, C);
}
