// VERDICT faster
// WHY Divides once and multiplies from then on, with fused multiply-adds.
// AGAINST iir
// HACK none: an honest winner
// KIND honest
#include <math.h>

#include "iir.h"

void iir(int n, const double *x, double *y) {
    const double over = 1 / 1.25, a1 = -1.75 * over, a2 = 0.875 * over;
    const double b0 = 0.0625 * over, b1 = 0.125 * over, b2 = 0.0625 * over;
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < n; i++) {
        const double in = fma(b0, x[i], fma(b1, x1, b2 * x2)), now = fma(-a1, y1, fma(-a2, y2, in));
        y[i] = now;
        x2 = x1, x1 = x[i], y2 = y1, y1 = now;
    }
}
