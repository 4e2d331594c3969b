#include <math.h>

#include "kepler.h"

void kepler(int n, const float *x, float *y) {
    for (int i = 0; i < n; i++) {
        float t = x[i];
        for (int k = 0; k < 40; k++) t = x[i] + 0.5f * sinf(t);
        y[i] = expf(-0.002f * (float)i) * t;
    }
}
