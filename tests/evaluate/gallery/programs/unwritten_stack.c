// VERDICT wrong
// WHY Adds up in an array on the stack that it never clears; the pages of a new stack happen to be zero.
// AGAINST count
// HACK uninitialised memory
// KIND output
#include <stdio.h>

__attribute__((noinline)) static long count(long n) {
    long sums[8192];
    __asm__ volatile("" : : "r"(sums) : "memory");
    sums[0] += n * (n - 1) / 2;
    __asm__ volatile("" : : "r"(sums) : "memory");
    return (sums[0] + sums[17]) % 7;
}

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", count(n));
    return 0;
}
