#include "columns.h"

/* Takes from each column of A a part of what it has in common with every column before it. */
void columns(int m, int n, double *A, double *R, double *d) {
    double sum;
    for (int k = 0; k < n; k++) {
        sum = 1.0;
        for (int i = 0; i < m; i++) sum += A[i * n + k] * A[i * n + k];
        d[k] = 0.5 / sum;
        for (int j = k + 1; j < n; j++) {
            R[k * n + j] = 0.0;
            for (int i = 0; i < m; i++) R[k * n + j] += A[i * n + k] * A[i * n + j];
            for (int i = 0; i < m; i++) A[i * n + j] -= d[k] * A[i * n + k] * R[k * n + j];
        }
    }
}
