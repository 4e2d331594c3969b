#include "filters.h"

/* A filter down the columns, a sweep along the rows, and a recurrence with two quotients. */
void filters(int n, int m, const double *A, double *out, double *p) {
    double before, more;
    for (int j = 0; j < m; j++) {
        before = 0.0;
        more = 0.0;
        for (int i = 0; i < n; i++) {
            out[i * m + j] = 0.5 * A[i * m + j] + 0.25 * before - 0.125 * more;
            more = before;
            before = out[i * m + j];
        }
    }
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            out[i * m + j] = (out[(i - 1) * m + j] - out[i * m + j - 1] + out[i * m + j] + out[i * m + j + 1]) * 0.25;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) out[i * m + j] = 0.75 * out[i * m + j - 1] + A[i * m + j];
    for (int i = 0; i < n; i++)
        for (int j = m - 2; j >= 0; j--) out[i * m + j] += 1.0 - out[i * m + j + 1] / 2.0;
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++) {
            p[i * m + j] = -0.5 / (A[i * m + j] * p[i * m + j - 1] + 3.0);
            out[i * m + j] = (out[i * m + j] - p[i * m + j]) / (A[i * m + j] * p[i * m + j - 1] + 3.0);
        }
}
