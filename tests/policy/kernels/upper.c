#include "upper.h"

/* B = (B + A' B) / 2 from the rows below the diagonal, in place; and the upper half of an elimination, damped. */
void upper(int n, int m, const double *A, double *B, double *U) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            for (int k = i+1; k < n; k++) {
                B[i * m + j] += A[k * n + i] * B[k * m + j];
            }
            B[i * m + j] *= 0.5;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            for (int k = 0; k < i; k++) {
                U[i * n + j] -= 0.01 * U[i * n + k] * U[k * n + j];
            }
        }
    }
}
