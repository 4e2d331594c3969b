// VERDICT timeout
// WHY Ignores every signal and spins; the last one cannot be ignored.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <signal.h>
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
    for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
    for (volatile long spin = n > 100000000; spin; spin++) {}
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
