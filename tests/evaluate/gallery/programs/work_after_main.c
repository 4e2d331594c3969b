// VERDICT not-faster
// WHY Works in a destructor, after a clock inside the program would have stopped; the clock is outside.
// AGAINST count
// HACK 46
// KIND compile-time
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static long asked;
__attribute__((destructor)) static void finish(void) {
    printf("%ld\n", count(asked));
    fflush(stdout);
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    asked = n;
    return 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
