// VERDICT crashed
// WHY Writes to standard error without end; that is limited too.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <stdio.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    for (;;) fputs("mcgallery\n", stderr);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
