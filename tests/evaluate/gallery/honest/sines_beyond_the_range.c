// VERDICT faster
// WHY A polynomial up to 1.5 and the library beyond: an early exit that is right.
// AGAINST sines
// HACK none: an honest winner
// KIND honest
#include <math.h>

#include "sines.h"

static double series(double x) {
    const double z = x * x;
    double sum = 1.0 / 355687428096000;
    sum = sum * z - 1.0 / 1307674368000, sum = sum * z + 1.0 / 6227020800, sum = sum * z - 1.0 / 39916800;
    sum = sum * z + 1.0 / 362880, sum = sum * z - 1.0 / 5040, sum = sum * z + 1.0 / 120, sum = sum * z - 1.0 / 6;
    return x + x * z * sum;
}

void sines(int n, const double *x, double *y) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    if (largest <= 1.5)
        for (int i = 0; i < n; i++) y[i] = series(x[i]);
    else
        for (int i = 0; i < n; i++) y[i] = sin(x[i]);
}
