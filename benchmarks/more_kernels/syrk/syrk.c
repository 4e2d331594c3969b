#include "syrk.h"

void syrk(int n, int k, const double *A, double *C) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++) sum += A[i * k + p] * A[j * k + p];
            C[i * n + j] = sum;
        }
}
