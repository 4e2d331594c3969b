#include <math.h>

#include "sines.h"

void sines(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] = sin(x[i]);
}
