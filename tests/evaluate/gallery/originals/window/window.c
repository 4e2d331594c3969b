#include "window.h"

void window(int n, int w, const double *X, double *Y) {
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < w; j++) sum += X[i + j];
        Y[i] = sum;
    }
}
