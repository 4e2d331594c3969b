// VERDICT wrong
// WHY Puts a no-break space before the answer, which some readers strip; a token ends at ASCII white space only.
// AGAINST count
// HACK 40
// KIND output
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
    long n;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    printf("\u00a0%ld\n", count(n));
    return 0;
}
