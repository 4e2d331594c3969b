// INPUT 60000000
#include <stdio.h>

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    unsigned long modulus = n * 16 + 7, value = 3, sum = 0;
    for (long i = 0; i < n; i++) {
        value = (value * 6364136223846793005UL + i) % modulus;  // BOTTLENECK arithmetic
        sum ^= value;
    }
    printf("%lu\n", sum);
    return 0;
}
