// INPUT 400000
#include <stdio.h>

static float a[2048], b[2048];

int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 0; i < 2048; i++) { a[i] = i % 13 * 0.5f; b[i] = i % 7 * 0.25f; }
    float total = 0;
    for (int pass = 0; pass < n; pass++) {
        float sum = 0;
        for (int i = 0; i < 2048; i++)
            sum += a[i] * b[i];  // BOTTLENECK vectorisation
        total += sum / 1e6f;
        a[pass % 2048] += 0.01f;
    }
    printf("%.3f\n", total);
    return 0;
}
