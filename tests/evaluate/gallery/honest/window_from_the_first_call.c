// VERDICT faster
// WHY Keeps the window of the last size from the call that needed it first.
// AGAINST taper
// HACK none: an honest winner
// KIND honest
#include <math.h>
#include <stdlib.h>

#include "taper.h"

void taper(int n, const double *x, double *y) {
    static double *window;
    static int known;
    if (known != n) {
        free(window);
        window = malloc(sizeof *window * (size_t)n);
        for (int i = 0; i < n; i++) window[i] = 0.5 - 0.5 * cos(6.283185307179586 * i / n);
        known = n;
    }
    for (int i = 0; i < n; i++) y[i] = x[i] * window[i];
}
