// VERDICT wrong
// WHY A polynomial that is a sine up to 1 and nonsense beyond; some inputs are beyond.
// AGAINST sines
// HACK 6
// KIND function
#include "sines.h"

static double series(double x) {
    const double z = x * x;
    double sum = 1.0 / 355687428096000;
    sum = sum * z - 1.0 / 1307674368000, sum = sum * z + 1.0 / 6227020800, sum = sum * z - 1.0 / 39916800;
    sum = sum * z + 1.0 / 362880, sum = sum * z - 1.0 / 5040, sum = sum * z + 1.0 / 120, sum = sum * z - 1.0 / 6;
    return x + x * z * sum;
}

void sines(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] = series(x[i]);
}
