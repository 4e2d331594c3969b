#include "triangle.h"

/* Half of C = C / 2 + A A', with loops that hold their last number, and the other half of C - A A', by columns. */
void triangle(int n, int m, const double *A, double *C) {
    for (int i = 0; i <= n - 1; i++) {
        for (int j = 0; j <= i; j++) {
            C[i * n + j] *= 0.5;
        }
        for (int k = 0; k < m; k++) {
            for (int j = 0; j <= i; j++) {
                C[i * n + j] += A[i * m + k] * A[j * m + k];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < m; k++) {
                C[j * n + i] -= A[i * m + k] * A[j * m + k];
            }
        }
    }
}
