// VERDICT not-faster
// WHY Fills its table of windows in a constructor, for the size that is timed; work before the first call is charged.
// AGAINST taper
// HACK 61
// KIND function
#include <math.h>

#include "taper.h"

enum { TIMED = 30000, AGAIN = 20 };

static double table[TIMED];

static double weight(int i, int n) { return 0.5 - 0.5 * cos(6.283185307179586 * i / n); }

__attribute__((constructor)) static void prepare(void) {
    for (int again = 0; again < AGAIN; again++) /* as often as the original in its calls: nothing is saved but by when */
        for (int i = 0; i < TIMED; i++) ((volatile double *)table)[i] = weight(i, TIMED);
}

void taper(int n, const double *x, double *y) {
    for (int i = 0; i < n; i++) y[i] = x[i] * (n == TIMED ? table[i] : weight(i, n));
}
