#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

enum { ROW = 4160, HUGE = 2 << 20 };

int main(void) {
    long rounds, rows, total = 0;
    if (scanf("%ld %ld", &rounds, &rows) != 2 || rows < 1) return 1;
    const size_t size = ((size_t)rows * ROW + HUGE - 1) / HUGE * HUGE;
    for (long r = 0; r < rounds; r++) { /* fresh memory each time, already in large pages: little but to clear it */
        char *all = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) return 1;
        char *base = (char *)(((uintptr_t)all + HUGE - 1) / HUGE * HUGE);
        madvise(base, size, MADV_HUGEPAGE);
        for (long i = 0; i < rows; i++) *(long *)(base + i * ROW) += i % 1000 + r;
        for (long i = 0; i < rows; i++) total += *(long *)(base + i * ROW);
        munmap(all, size + HUGE);
    }
    printf("%ld\n", total);
    return 0;
}
