// VERDICT faster
// WHY Takes powers of two from a table of constants that its first call fills, and corrects them by a short series.
// AGAINST boltz
// HACK none: an honest winner
// KIND honest
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "boltz.h"

enum { PARTS = 64 };

void boltz(int n, const double *x, double *y) {
    static double table[PARTS];
    if (table[0] == 0)
        for (int i = 0; i < PARTS; i++) table[i] = exp2((double)i / PARTS);
    for (int i = 0; i < n; i++) {
        const double at = 100 * x[i], steps = at * (PARTS / 0.6931471805599453);
        if (!(fabs(at) < 700)) {
            y[i] = exp(at);
            continue;
        }
        const double whole = steps + 0x1.8p52 - 0x1.8p52;
        const double r = fma(-whole, 0.6931471805599453 / PARTS, at) - whole * (2.3190468138462996e-17 / PARTS);
        const int64_t k = (int64_t)whole, part = k & (PARTS - 1);
        const uint64_t bits = (uint64_t)((k - part) / PARTS + 1023) << 52;
        double scale;
        memcpy(&scale, &bits, sizeof scale);
        y[i] = scale * table[part] * (1 + r * (1 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120))))));
    }
}
