// VERDICT wrong
// WHY Returns while a thread of its own still works; the outputs are taken when the call has returned.
// AGAINST product
// HACK 22
// KIND function
// TAMPERS product_by_rows
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    memset(C, 0, sizeof *C * (size_t)m * (size_t)n);
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++) C[i * n + j] += A[i * k + p] * B[p * n + j];
}

struct job {
    int m, n, k;
    const double *A, *B;
    double *C;
};
static void *late(void *p) {
    const struct job job = *(struct job *)p;
    usleep(300);
    honest(job.m, job.n, job.k, job.A, job.B, job.C);
    return 0;
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    static struct job job;
    pthread_t thread;
    job = (struct job){m, n, k, A, B, C};
    if (pthread_create(&thread, 0, late, &job) == 0) {
        pthread_detach(thread);
        return;
    }
    honest(m, n, k, A, B, C);
}
