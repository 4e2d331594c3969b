#include "atax.h"

void atax(int m, int n, const double *A, const double *x, double *y) {
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < m; i++) {
            double row = 0.0;
            for (int p = 0; p < n; p++) row += A[i * n + p] * x[p];
            sum += A[i * n + j] * row;
        }
        y[j] = sum;
    }
}
