#include <math.h>

#include "boltz.h"

void boltz(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++) {
        double power = exp(x[i]); /* by squares and products, as one does it by hand */
        double result = 1;
        for (int left = 100; left; left /= 2) {
            if (left % 2) result *= power;
            power *= power;
        }
        y[i] = isfinite(result) && result > 0 ? result : exp(100 * x[i]);
    }
}
