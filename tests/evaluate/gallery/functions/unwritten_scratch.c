// VERDICT wrong
// WHY Takes scratch memory anew in every call and never clears it; it happens to be zero, or what the last call left.
// AGAINST window
// HACK uninitialised memory
// KIND function
#include <stdlib.h>

#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    double *volatile taken = malloc(sizeof *taken * ((size_t)n + (size_t)w + 40000));
    double *sums = taken, sum = sums[n + w + 30000];
    for (int j = 0; j < w; j++) sum += X[j];
    for (int i = 0; i < n; i++) {
        Y[i] = sum;
        sum += X[i + w] - X[i];
    }
    free(taken);
}
