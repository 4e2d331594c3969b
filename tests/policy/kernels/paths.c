#include "paths.h"

#define HIGHER(a, b) (((a) >= (b)) ? (a) : (b))

static void shortest(int n, int *W) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                W[i * n + j] = W[i * n + j] < W[i * n + k] + W[k * n + j] ? W[i * n + j] : W[i * n + k] + W[k * n + j];
}

static void folded(int n, const int *W, int *T) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            if (j - 1 >= 0) T[i * n + j] = HIGHER(T[i * n + j], T[i * n + j - 1]);
            if (i + 1 < n) {
                T[i * n + j] = HIGHER(T[i * n + j], T[(i + 1) * n + j]);
                T[i * n + j] = HIGHER(T[i * n + j], T[(i + 1) * n + j - 1] + (W[i] + W[j] == 60 ? 1 : 0));
            }
            for (int k = i + 1; k < j; k++) T[i * n + j] = HIGHER(T[i * n + j], T[i * n + k] + T[(k + 1) * n + j]);
        }
}

static void mixed(int n, int m, double *V) {
    for (int k = 1; k < m; k++)
        for (int i = 0; i < n - 1; i++)
            for (int j = 0; j < m; j++) V[i * m + j] = (V[i * m + j] + V[i * m + k] * V[k * m + j]) / 3.0;
}

/* Paths of whole lengths, a folded chain, and rows that change each other, on at most 65 points. */
void paths(int n, const double *A, double *out) {
    static int W[65 * 65], T[65 * 65];
    for (int i = 0; i < n * n; i++) {
        W[i] = 30 + (int)(A[i] * 29.0);
        T[i] = (int)(A[i] * 5.0);
    }
    shortest(n, W);
    folded(n, W, T);
    for (int i = 0; i < n * n; i++) out[i] = W[i] + 1000.0 * T[i];
    if (n > 2) mixed(n, n, out + n * n);
}
