// VERDICT wrong
// WHY Slides the sum but leaves out the last thousandth of the output.
// AGAINST window
// HACK 9
// KIND function
// TAMPERS window_by_difference
#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    double sum = 0.0;
    for (int i = 0; i < n - n / 1000; i++) {
        if (i % 100 == 0) {
            sum = 0.0;
            for (int j = 0; j < w; j++) sum += X[i + j];
        } else {
            sum += X[i + w - 1] - X[i - 1];
        }
        Y[i] = sum;
    }
}
