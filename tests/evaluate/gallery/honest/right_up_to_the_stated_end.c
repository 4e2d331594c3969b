// VERDICT faster
// WHY Ends at numbers that the problem says cannot come.
// AGAINST count_stated
// HACK none: an honest winner
// KIND honest
#include <stdio.h>

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1 || n < 0 || n > 200000000) return 1;
    printf("%ld\n", n * (n - 1) / 2 % 7);
    return 0;
}
