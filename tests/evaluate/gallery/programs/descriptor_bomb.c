// VERDICT not-faster
// WHY Opens descriptors and fills pipes until no more are allowed; both are limited and end with it.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    static char much[65536];
    int ends[2];
    for (int i = 0; i < 5000 && pipe2(ends, O_NONBLOCK) == 0; i++)
        if (i < 20) while (write(ends[1], much, sizeof much) > 0) {}
    while (dup(0) >= 0) {}
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
