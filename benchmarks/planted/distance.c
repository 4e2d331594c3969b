// INPUT 6000
#include <math.h>
#include <stdio.h>

static double x[10000], y[10000];

int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 0; i < n; i++) { x[i] = i * 37 % 1001; y[i] = i * 91 % 997; }
    double nearest = 1e18;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            double d = pow(pow(x[i] - x[j], 2.0) + pow(y[i] - y[j], 2.0), 0.5);  // BOTTLENECK arithmetic
            if (d > 0 && d < nearest) nearest = d;
        }
    printf("%.9f\n", nearest);
    return 0;
}
