#include "waves.h"

/* Two fields and a third between them, over time; what comes in at one edge depends on the time. */
void waves(int n, int m, int steps, const double *source, double *E, double *F, double *H) {
    for (int t = 0; t < steps; t++) {
        for (int j = 0; j < m; j++) F[j] = source[t];
        for (int i = 1; i < n; i++)
            for (int j = 0; j < m; j++) F[i * m + j] = F[i * m + j] - 0.5 * (H[i * m + j] - H[(i - 1) * m + j]);
        for (int i = 0; i < n; i++)
            for (int j = 1; j < m; j++) E[i * m + j] = E[i * m + j] - 0.5 * (H[i * m + j] - H[i * m + j - 1]);
        for (int i = 0; i < n - 1; i++)
            for (int j = 0; j < m - 1; j++)
                H[i * m + j] = H[i * m + j] - 0.7 * (E[i * m + j + 1] - E[i * m + j] + F[(i + 1) * m + j] - F[i * m + j]);
    }
}
