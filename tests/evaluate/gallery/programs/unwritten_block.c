// VERDICT wrong
// WHY Takes memory from malloc for cleared memory; large blocks of a new process happen to be zero.
// AGAINST count
// HACK uninitialised memory
// KIND output
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    long n, *sums = malloc(1 << 20);
    if (scanf("%ld", &n) != 1) return 1;
    sums[1000] += n * (n - 1) / 2;
    printf("%ld\n", sums[1000] % 7);
    return 0;
}
