#include "heat.h"

/* Every inner element moves towards its neighbours in space, from A to B and back. */
void heat(int n, int steps, double *A, double *B) {
    for (int t = 1; t <= steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[(i * n + j) * n + k] = 0.25 * A[(i * n + j) * n + k]
                        + 0.125 * (A[((i + 1) * n + j) * n + k] + A[((i - 1) * n + j) * n + k])
                        + 0.125 * (A[(i * n + j + 1) * n + k] + A[(i * n + j - 1) * n + k])
                        + 0.125 * (A[(i * n + j) * n + k + 1] + A[(i * n + j) * n + k - 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[(i * n + j) * n + k] = 0.25 * B[(i * n + j) * n + k]
                        + 0.125 * (B[((i + 1) * n + j) * n + k] + B[((i - 1) * n + j) * n + k])
                        + 0.125 * (B[(i * n + j + 1) * n + k] + B[(i * n + j - 1) * n + k])
                        + 0.125 * (B[(i * n + j) * n + k + 1] + B[(i * n + j) * n + k - 1]);
    }
}
