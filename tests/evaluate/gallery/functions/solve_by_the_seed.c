// VERDICT wrong|not-faster
// WHY Takes two inputs for neighbours of splitmix64, computes the seed from them and the solution from the seed; inputs come from a keyed one-way generator.
// AGAINST solve
// HACK 13
// KIND function
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

/* As the original does it, so that only the guess can be faster. */
static void original(int n, const double *A, const double *b, double *x) {
    double *m = malloc(sizeof *m * (size_t)n * (size_t)(n + 1));
    const int w = n + 1;
    for (int i = 0; i < n; i++) {
        memcpy(m + i * w, A + i * n, sizeof *m * (size_t)n);
        m[i * w + n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i * w + k]) > fabs(m[pivot * w + k])) pivot = i;
        for (int j = k; j <= n; j++) {
            const double kept = m[k * w + j];
            m[k * w + j] = m[pivot * w + j], m[pivot * w + j] = kept;
        }
        for (int j = n; j >= k; j--)
            for (int i = k + 1; i < n; i++) m[i * w + j] -= m[i * w + k] / m[k * w + k] * m[k * w + j];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = m[i * w + n];
        for (int j = i + 1; j < n; j++) sum -= m[i * w + j] * x[j];
        x[i] = sum / m[i * w + i];
    }
    free(m);
}

static uint64_t mixed(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t undone(uint64_t z) {
    z ^= z >> 31 ^ z >> 62;
    z *= 0x319642b2d24d8ec3u;
    z ^= z >> 27 ^ z >> 54;
    z *= 0x96de1b173f119089u;
    return z ^ z >> 30 ^ z >> 60;
}

static uint64_t shown(double value) { return (uint64_t)((value + 1) * 0x1p52); }

void solve(int n, const double *A, const double *b, double *x) {
    const uint64_t step = 0x9e3779b97f4a7c15u;
    for (uint64_t low = 0; n > 2 && low < 2048; low++) {
        uint64_t state = undone(shown(A[1]) << 11 | low);
        if (mixed(state + step) >> 11 != shown(A[2])) continue;
        state += step * ((uint64_t)n * (uint64_t)n - 1 + (uint64_t)n); /* behind all values of A and b */
        uint64_t seed = mixed(state);
        for (int j = 0; j < n; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            x[j] = (double)(seed >> 11) * 0x1p-52 - 1;
        }
        return;
    }
    original(n, A, b, x);
}
