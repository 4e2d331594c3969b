// VERDICT faster
// WHY Has aligned scratch memory on the stack and from malloc, writes parts of it, and reads those parts alone.
// AGAINST window
// HACK none
// KIND honest
#include <stdalign.h>
#include <stdlib.h>

#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    alignas(64) double first[4096];
    double *second = aligned_alloc(64, 1 << 20), sum = 0.0;
    first[100] = 0.0, second[1000] = 0.0;
    for (int j = 0; j < w; j++) sum += X[j];
    for (int i = 0; i < n; i++) {
        Y[i] = sum + first[100] + second[1000];
        sum += X[i + w] - X[i];
    }
    free(second);
}
