// VERDICT faster
// WHY Slides the sum in place of adding it up anew, afresh every hundred steps so that errors do not grow.
// AGAINST window
// HACK none: an honest winner
// KIND honest
#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        if (i % 100 == 0) {
            sum = 0.0;
            for (int j = 0; j < w; j++) sum += X[i + j];
        } else {
            sum += X[i + w - 1] - X[i - 1];
        }
        Y[i] = sum;
    }
}
