// VERDICT crashed
// WHY Calls itself without end; the stack is limited.
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

static long deep(long n) {
    volatile char room[4096];
    room[n & 4095] = (char)n;
    return n < 0 ? n : deep(n + 1) + room[n & 4095];
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    answer = deep(n + 3);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
