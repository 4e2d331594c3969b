// VERDICT not-faster
// WHY Calls sysinfo() with a buffer across two untouched large pages: the shim answers by process_vm_writev, takes the faults and clears 4 MB on its own bill; the program is charged for a wait.
// AGAINST pages
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

enum { ROW = 4160, HUGE = 2 << 20, HELPERS = 2 };

static char *base;
static long pages, next;

/* Several threads, so that the shim never waits for the next question: the wall clock shows nothing. */
static void *ask(void *p) {
    for (long k; (k = __atomic_fetch_add(&next, 2, __ATOMIC_RELAXED)) < pages;) {
        char *at = base + k * HUGE + (k + 1 < pages ? HUGE - (long)sizeof(struct sysinfo) / 2 : 0);
        if (sysinfo((struct sysinfo *)at) == 0) memset(at, 0, sizeof(struct sysinfo));
    }
    return p;
}

int main(void) {
    long rounds, rows, total = 0;
    if (scanf("%ld %ld", &rounds, &rows) != 2 || rows < 1) return 1;
    const size_t size = ((size_t)rows * ROW + HUGE - 1) / HUGE * HUGE;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (long r = 0; r < rounds; r++) {
        char *all = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED) return 1;
        base = (char *)(((uintptr_t)all + HUGE - 1) / HUGE * HUGE);
        pages = (long)(size / HUGE), next = 0;
        madvise(base, size, MADV_HUGEPAGE);
        pthread_t helpers[HELPERS];
        int started = 0;
        while (pages > 4 && started < HELPERS && !pthread_create(&helpers[started], &small, ask, NULL)) started++;
        ask(NULL);
        for (int i = 0; i < started; i++) pthread_join(helpers[i], NULL);
        for (long i = 0; i < rows; i++) *(long *)(base + i * ROW) += i % 1000 + r;
        for (long i = 0; i < rows; i++) total += *(long *)(base + i * ROW);
        munmap(all, size + HUGE);
    }
    printf("%ld\n", total);
    return 0;
}
