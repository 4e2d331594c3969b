// INPUT 3000
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    double *table = malloc(sizeof(double) * n * n);
    for (long i = 0; i < (long)n * n; i++) table[i] = (double)(i % 1000) / 7;
    double total = 0;
    for (int pass = 0; pass < 4; pass++)
        for (int column = 0; column < n; column++)
            for (int row = 0; row < n; row++)
                total += table[(long)row * n + column];  // BOTTLENECK memory-latency
    printf("%.6f\n", total);
    free(table);
    return 0;
}
