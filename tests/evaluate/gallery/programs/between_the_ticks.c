// VERDICT not-faster
// WHY Works right after a tick of the kernel's clock and sleeps before the next one; time is not charged by ticks.
// AGAINST count
// HACK 22
// KIND timer
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

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
    long sum = 0;
    for (long at = 0; at < n;) {
        long end = at + 1000000;
        for (end = end < n ? end : n; at < end; at++) {
            sum += at;
            __asm__ volatile("" : "+r"(sum));
        }
        nanosleep(&(struct timespec){.tv_nsec = 50000}, 0);
    }
    answer = sum % 7;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
