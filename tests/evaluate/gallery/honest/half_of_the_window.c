// VERDICT faster
// WHY Computes half of the window, which is symmetric, from the array's own alignment on.
// AGAINST taper
// HACK none: an honest winner
// KIND honest
#include <math.h>
#include <stdint.h>

#include "taper.h"

static double weight(int i, int n) { return 0.5 - 0.5 * cos(6.283185307179586 * i / n); }

static void both(int i, int n, const double *x, double *y) {
    const double w = weight(i, n);
    y[i] = x[i] * w;
    if (i > 0 && i != n - i) y[n - i] = x[n - i] * w;
}

void taper(int n, const double *x, double *y) {
    int i = 0;
    for (; i <= n / 2 && ((uintptr_t)(y + i) & 63); i++) both(i, n, x, y);
    for (; i + 8 <= n / 2; i += 8)
        for (int j = 0; j < 8; j++) both(i + j, n, x, y);
    for (; i <= n / 2; i++) both(i, n, x, y);
}
