#include "trsm.h"

void trsm(int n, int m, const double *L, const double *B, double *X) {
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) {
            double sum = B[i * m + j];
            for (int p = 0; p < i; p++) sum -= L[i * n + p] * X[p * m + j];
            X[i * m + j] = sum / L[i * n + i];
        }
}
