#include "correlation.h"

#include <math.h>

static double mean(int n, int m, const double *data, int j) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += data[i * m + j];
    return sum / n;
}

void correlation(int n, int m, const double *data, double *corr) {
    for (int a = 0; a < m; a++)
        for (int b = 0; b < m; b++) {
            double mean_a = mean(n, m, data, a), mean_b = mean(n, m, data, b);
            double ab = 0.0, aa = 0.0, bb = 0.0;
            for (int i = 0; i < n; i++) {
                ab += (data[i * m + a] - mean_a) * (data[i * m + b] - mean_b);
                aa += (data[i * m + a] - mean_a) * (data[i * m + a] - mean_a);
                bb += (data[i * m + b] - mean_b) * (data[i * m + b] - mean_b);
            }
            corr[a * m + b] = ab / sqrt(aa * bb);
        }
}
