// VERDICT crashed|unbuilt
// WHY Has sixty gigabytes of zeros, so that it cannot even be loaded (or not be linked); that is its own failure, not the sandbox's.
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

extern char far[];
__asm__(".bss\n.globl far\nfar: .space 64424509440\n.text\n");

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    answer = far[n] ? 0 : -1;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
