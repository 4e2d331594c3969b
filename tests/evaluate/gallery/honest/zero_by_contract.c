// VERDICT faster
// WHY Reads memory that it never wrote but that is zero by contract: from calloc, from mmap, and static arrays.
// AGAINST count
// HACK none
// KIND honest
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static long fixed[4096];

int main(void) {
    long n, *cleared = calloc(1 << 18, sizeof *cleared), *at = fixed;
    long *mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __asm__ volatile("" : "+r"(cleared), "+r"(mapped), "+r"(at));
    if (scanf("%ld", &n) != 1) return 1;
    cleared[77] += n * (n - 1) / 2;
    printf("%ld\n", (cleared[77] + cleared[99999] + mapped[5000] + at[3000]) % 7);
    return 0;
}
