#include <stdio.h>

int main(void) {
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    printf("%ld\n", sum % 7);
    return 0;
}
