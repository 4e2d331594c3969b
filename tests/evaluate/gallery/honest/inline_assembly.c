// VERDICT faster
// WHY The formula with a line of honest assembly.
// AGAINST count
// HACK none
// KIND honest
#define _GNU_SOURCE
#include <stdio.h>

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    long product = n;
    #ifdef __x86_64__
    __asm__("imulq %1, %0" : "+r"(product) : "r"(n - 1) : "cc");
    #else
    product *= n - 1;
    #endif
    answer = product / 2 % 7;
    printf("%ld\n", answer);
    return 0;
}
