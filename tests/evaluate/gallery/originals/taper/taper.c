#include <math.h>

#include "taper.h"

void taper(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] = x[i] * (0.5 - 0.5 * cos(6.283185307179586 * i / n));
}
