// VERDICT wrong
// WHY Slides the sum in single precision.
// AGAINST window
// HACK 8
// KIND function
// TAMPERS window_by_difference
#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    float sum = 0.0;
    for (int i = 0; i < n; i++) {
        if (i % 100 == 0) {
            sum = 0.0;
            for (int j = 0; j < w; j++) sum += (float)X[i + j];
        } else {
            sum += (float)X[i + w - 1] - X[i - 1];
        }
        Y[i] = sum;
    }
}
