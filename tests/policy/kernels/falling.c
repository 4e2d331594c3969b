#include "falling.h"

/* C = A B, with loops that count down. */
void falling(int m, int n, int k, const double *A, const double *B, double *C) {
    for (int i = m - 1; i >= 0; i--) {
        for (int j = 0; j < n; j++) {
            double s = 0.0;
            for (int p = k - 1; p >= 0; p--) {
                s = s + A[i * k + p] * B[p * n + j];
            }
            C[i * n + j] = s;
        }
    }
}
