// VERDICT wrong
// WHY Reads beyond its table, where nothing lies that it ever wrote and zeros happen to be.
// AGAINST count
// HACK uninitialised memory
// KIND output
#include <stdio.h>

static long table[16];

int main(void) {
    long n, *at = table;
    __asm__ volatile("" : "+r"(at));
    if (scanf("%ld", &n) != 1) return 1;
    at[1] = n * (n - 1) / 2;
    printf("%ld\n", (at[1] + at[16 + 100]) % 7);
    return 0;
}
