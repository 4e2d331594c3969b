// VERDICT unbuilt
// WHY Includes itself without end; the depth of includes is limited.
// AGAINST count
// HACK 57
// KIND compile-time
#include __FILE__
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

    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
