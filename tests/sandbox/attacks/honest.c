/* A fixed amount of work, three quarters of it in one function and a quarter in another. */
#include <stdio.h>

__attribute__((noinline)) static double hot(long n) {
    double sum = 0;
    for (long i = 1; i <= n; i++) sum += 1.0 / (double)i;
    return sum;
}

__attribute__((noinline)) static double warm(long n) {
    double product = 1;
    for (long i = 1; i <= n; i++) product *= 1.0 + 1.0 / ((double)i * (double)i);
    return product;
}

int main(void) {
    printf("%.6f %.6f\n", hot(12000000), warm(4000000));
    return 0;
}
