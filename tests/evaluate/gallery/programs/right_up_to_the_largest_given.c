// VERDICT wrong
// WHY Knows the formula, and uses it up to the largest number that is given; larger ones can come, as the problem says.
// AGAINST count_stated
// HACK 1
// KIND output
#include <stdio.h>

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", n > 120000005 ? 0 : n * (n - 1) / 2 % 7);
    return 0;
}
