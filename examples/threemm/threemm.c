#include "threemm.h"

void threemm(int n, const double *A, const double *B, const double *C, const double *D, double *E, double *F,
             double *G) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < n; p++) sum += A[i * n + p] * B[p * n + j];
            E[i * n + j] = sum;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < n; p++) sum += C[i * n + p] * D[p * n + j];
            F[i * n + j] = sum;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < n; p++) sum += E[i * n + p] * F[p * n + j];
            G[i * n + j] = sum;
        }
}
