// VERDICT not-faster
// WHY Leaves a thread spinning that keeps the caches warm; all threads are charged.
// AGAINST product_won
// HACK 22
// KIND function
#define _GNU_SOURCE
#include <pthread.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

static void *spin(void *p) {
    for (volatile long i = 0;; i++) {}
    return p;
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    static pthread_t thread;
    if (!thread) pthread_create(&thread, 0, spin, 0);
    honest(m, n, k, A, B, C);
}
