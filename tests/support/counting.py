"""A slow C program that several tests share: it adds up 0 to n - 1 in a loop that the compiler must keep."""

SLOW = """#include <stdio.h>
int main(void) {
    long n, sum = 0;
    if (scanf("%ld", &n) != 1) return 1;
    for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }
    printf("%ld\\n", sum);
    return 0;
}
"""
FAST = SLOW.replace(
    'for (long i = 0; i < n; i++) { sum += i; __asm__ volatile("" : "+r"(sum)); }', "sum = n * (n - 1) / 2;"
)
