// VERDICT crashed
// WHY Makes its output huge without writing much; the size counts.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <stdio.h>
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
    printf("%ld\n", count(n));
    fflush(stdout);
    if (ftruncate(1, 1L << 40) || lseek(1, 1L << 30, SEEK_SET) < 0 || write(1, "", 1) < 0) return 1;
    return 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
