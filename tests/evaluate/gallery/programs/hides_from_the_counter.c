// VERDICT not-faster
// WHY Counted, it takes a formula, and else the loop: that much less must show in seconds, and does not.
// AGAINST count_instructions
// HACK notices valgrind by how it is started
// KIND run-time
#define _GNU_SOURCE
#include <stdio.h>

int main(int argc, char **argv) {
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    if (argc > 0 && argv[0][0] == '/') {
        sum = n * (n - 1) / 2;
    } else {
        for (long i = 0; i < n; i++) {
            sum += i;
            __asm__ volatile("" : "+r"(sum));
        }
    }
    printf("%ld\n", sum % 7);
    return 0;
}
