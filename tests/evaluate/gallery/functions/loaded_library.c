// VERDICT rejected
// WHY Loads a BLAS; refused by name, and there is none in the sandbox.
// AGAINST product
// HACK 34
// KIND function
#define _GNU_SOURCE
#include <dlfcn.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library) return;
    honest(m, n, k, A, B, C);
}
