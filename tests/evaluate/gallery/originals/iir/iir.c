#include "iir.h"

void iir(int n, const double *x, double *y) {
    const double a0 = 1.25, a1 = -1.75, a2 = 0.875, b0 = 0.0625, b1 = 0.125, b2 = 0.0625;
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < n; i++) {
        const double sum = b0 * x[i] + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
        y[i] = sum / a0;
        x2 = x1, x1 = x[i], y2 = y1, y1 = y[i];
    }
}
