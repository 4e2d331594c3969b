// VERDICT crashed
// WHY Takes all memory; more than its share and it is killed.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    for (char *some; (some = malloc(32 << 20));) memset(some, 1, 32 << 20);
    abort();
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
