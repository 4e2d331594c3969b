#include <math.h>
#include <stdio.h>

int main(void) {
    int points, terms;
    if (scanf("%d %d", &points, &terms) != 2) return 1;
    for (int p = 0; p < points; p++) {
        const double x = 3.0 * p / points;
        double sum = 0;
        for (int k = 1; k <= terms; k++) sum += sin(k * x) / k;
        printf("%.12g\n", sum);
    }
    return 0;
}
