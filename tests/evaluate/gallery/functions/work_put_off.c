// VERDICT wrong
// WHY Returns with nothing written, and works for eight calls together at the eighth; how many calls a round has is drawn anew each time.
// AGAINST iir
// HACK 11
// KIND function
#include <math.h>
#include <stddef.h>

#include "iir.h"

enum { SLOTS = 8 };

static const double *xs[SLOTS];
static double *ys[SLOTS];
static int lengths[SLOTS], waiting;

/* All streams at once: none waits for the one before. */
static void work(void) {
    const double a0 = 1.25, a1 = -1.75, a2 = 0.875, b0 = 0.0625, b1 = 0.125, b2 = 0.0625;
    double x1[SLOTS] = {0}, x2[SLOTS] = {0}, y1[SLOTS] = {0}, y2[SLOTS] = {0};
    for (int i = 0; waiting && i < lengths[0]; i++)
        for (int s = 0; s < waiting; s++) {
            const double now = (b0 * xs[s][i] + b1 * x1[s] + b2 * x2[s] - a1 * y1[s] - a2 * y2[s]) / a0;
            ys[s][i] = now;
            x2[s] = x1[s], x1[s] = xs[s][i], y2[s] = y1[s], y1[s] = now;
        }
    waiting = 0;
}

void iir(int n, const double *x, double *y) {
    xs[waiting] = x, ys[waiting] = y, lengths[waiting++] = n;
    if (waiting == SLOTS) work();
}
