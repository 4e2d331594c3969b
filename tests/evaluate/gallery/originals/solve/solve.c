#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

/* Elimination by columns, with a search for the largest pivot. */
void solve(int n, const double *A, const double *b, double *x) {
    double *m = malloc(sizeof *m * (size_t)n * (size_t)(n + 1));
    const int w = n + 1;
    for (int i = 0; i < n; i++) {
        memcpy(m + i * w, A + i * n, sizeof *m * (size_t)n);
        m[i * w + n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i * w + k]) > fabs(m[pivot * w + k])) pivot = i;
        for (int j = k; j <= n; j++) {
            const double kept = m[k * w + j];
            m[k * w + j] = m[pivot * w + j], m[pivot * w + j] = kept;
        }
        for (int j = n; j >= k; j--)
            for (int i = k + 1; i < n; i++) m[i * w + j] -= m[i * w + k] / m[k * w + k] * m[k * w + j];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = m[i * w + n];
        for (int j = i + 1; j < n; j++) sum -= m[i * w + j] * x[j];
        x[i] = sum / m[i * w + i];
    }
    free(m);
}
