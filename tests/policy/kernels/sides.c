#include "sides.h"

/* C = C / 2 + 3 A B for a symmetric A of which the lower half is there; D = A B by rows; u + A u and v + A' v. */
void sides(int m, int n, const double *A, const double *B, double *C, double *D, double *S, double *u, double *v) {
    double sum;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            sum = 0;
            for (int k = 0; k < i; k++) {
                C[k * n + j] += 3.0 * B[i * n + j] * A[i * m + k];
                sum += B[k * n + j] * A[i * m + k];
            }
            C[i * n + j] = 0.5 * C[i * n + j] + 3.0 * B[i * n + j] * A[i * m + i] + 3.0 * sum;
        }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            S[j] = 0.0;
            for (int k = 0; k < m; k++) S[j] += A[i * m + k] * B[k * n + j];
        }
        for (int j = 0; j < n; j++) D[i * n + j] = S[j];
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) u[i] = u[i] + A[i * m + j] * B[j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) v[i] = v[i] + A[j * m + i] * B[j];
}
