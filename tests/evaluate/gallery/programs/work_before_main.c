// VERDICT not-faster
// WHY Works in a constructor, before a clock inside the program would start; the clock is outside.
// AGAINST count
// HACK 46
// KIND compile-time
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static long early;
__attribute__((constructor)) static void begin(void) {
    char text[32] = "";
    if (pread(0, text, 31, 0) > 0) early = count(atol(text));
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    answer = early;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
