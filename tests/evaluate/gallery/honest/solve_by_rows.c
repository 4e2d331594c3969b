// VERDICT faster
// WHY Eliminates by rows with one reciprocal a column, into memory that it takes for the call.
// AGAINST solve
// HACK none: an honest winner
// KIND honest
#include <stdlib.h>
#include <string.h>

#include "solve.h"

static void honest(int n, const double *A, const double *b, double *x) {
    double *m = malloc(sizeof *m * (size_t)n * (size_t)n);
    memcpy(m, A, sizeof *m * (size_t)n * (size_t)n);
    memcpy(x, b, sizeof *x * (size_t)n);
    for (int k = 0; k < n; k++) {
        const double over = 1 / m[k * n + k];
        for (int i = k + 1; i < n; i++) {
            const double factor = m[i * n + k] * over;
            for (int j = k + 1; j < n; j++) m[i * n + j] -= factor * m[k * n + j];
            x[i] -= factor * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= m[i * n + j] * x[j];
        x[i] /= m[i * n + i];
    }
    free(m);
}

void solve(int n, const double *A, const double *b, double *x) { honest(n, A, b, x); }
