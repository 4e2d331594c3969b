// VERDICT faster
// WHY The closed formula where instructions are counted; seconds bear it out.
// AGAINST count_instructions
// HACK none: an honest winner
// KIND honest
#define _GNU_SOURCE
#include <stdio.h>

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    answer = n * (n - 1) / 2 % 7;
    printf("%ld\n", answer);
    return 0;
}
