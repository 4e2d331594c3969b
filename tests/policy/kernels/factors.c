#include "factors.h"

#include <math.h>

/* The factors of three matrices with large diagonals, by rows: of Cholesky, of Gauss, and of Gauss with a scalar. */
void factors(int n, const double *x, double *L, double *U, double *V) {
    double w;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            L[i * n + j] = x[i * n + j] / n;
            U[i * n + j] = x[i * n + j] / n;
            V[i * n + j] = x[j * n + i] / n;
        }
        L[i * n + i] = 4.0;
        U[i * n + i] = 3.0;
        V[i * n + i] = 5.0;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) L[i * n + j] -= L[i * n + k] * L[j * n + k];
            L[i * n + j] /= L[j * n + j];
        }
        for (int k = 0; k < i; k++) L[i * n + i] -= L[i * n + k] * L[i * n + k];
        L[i * n + i] = sqrt(L[i * n + i]);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) U[i * n + j] -= U[i * n + k] * U[k * n + j];
            U[i * n + j] /= U[j * n + j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++) U[i * n + j] -= U[i * n + k] * U[k * n + j];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            w = V[i * n + j];
            for (int k = 0; k < j; k++) w -= V[i * n + k] * V[k * n + j];
            V[i * n + j] = w / V[j * n + j];
        }
        for (int j = i; j < n; j++) {
            w = V[i * n + j];
            for (int k = 0; k < i; k++) w -= V[i * n + k] * V[k * n + j];
            V[i * n + j] = w;
        }
    }
}
