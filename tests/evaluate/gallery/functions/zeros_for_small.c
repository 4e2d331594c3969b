// VERDICT wrong
// WHY Gives 0 wherever the result is small beside the largest: the norm of the array does not see it, each element does.
// AGAINST boltz
// HACK 6
// KIND function
#include <math.h>

#include "boltz.h"

void boltz(int n, const double *x, double *y) {
    double largest = x[0];
    for (int i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    for (int i = 0; i < n; i++) y[i] = x[i] < largest - 0.25 ? 0 : exp(100 * x[i]);
}
