// VERDICT faster
// WHY Ends where another step changes less than a float can tell; a last digit may differ.
// AGAINST kepler
// HACK look-alike: fewer steps
// KIND honest
#include <math.h>

#include "kepler.h"

void kepler(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) {
        float t = x[i];
        for (int k = 0; k < 40; k++) {
            const float next = x[i] + 0.5f * sinf(t);
            const int is_near = fabsf(next - t) <= 2e-7f * fabsf(next);
            t = next;
            if (is_near) break;
        }
        y[i] = expf(-0.002f * (float)i) * t;
    }
}
