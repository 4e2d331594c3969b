// VERDICT not-faster
// WHY Works by string instructions, which do thousands of steps each; the counter counts their steps, and the clock their time.
// AGAINST count_instructions
// HACK 28
// KIND timer
#include <stdio.h>

static long count(long n) {
    static char from[1 << 16], to[1 << 16];
#if defined(__x86_64__)
    for (long left = n; left > 0; left -= sizeof from) {
        void *source = from, *target = to;
        long bytes = sizeof from;
        __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(bytes) : : "memory");
    }
#else
    for (long i = 0; i < n; i++) to[i % (1 << 16)] = from[i % (1 << 16)];
#endif
    return n * (n - 1) / 2 % 7;
}

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    for (int i = 0; i < 40; i++) __asm__ volatile("" : : "r"(count(n)));
    printf("%ld\n", count(n));
    return 0;
}
