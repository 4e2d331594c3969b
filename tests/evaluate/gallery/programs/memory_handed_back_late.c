// VERDICT not-faster
// WHY Ends with all memory and descriptors that it may have, so that the kernel clears up while the original runs; a process ends when that is done, and is charged for it.
// AGAINST count
// HACK 40
// KIND baseline
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", count(n));
    fflush(stdout);
    char *all = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all != MAP_FAILED)
        for (long i = 0; i < 64 << 20; i += 8192) all[i] = 1, mprotect(all + i, 4096, i % 16384 ? PROT_READ : PROT_NONE);
    for (int i = 0; i < 100; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, eventfd(0, 0), &event);
    }
    return 0;
}
