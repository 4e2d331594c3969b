#include "product.h"

void product(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];  // BOTTLENECK memory-latency|vectorisation
            c[i * n + j] = sum;
        }
}
