// VERDICT not-faster
// WHY Asks the kernel to work for it: asynchronous requests, faults answered elsewhere, programs for packets; all of them are refused, so it counts itself.
// AGAINST count
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
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
    static char room[512];
    long n, ring;
    void *queue = NULL;
    if (scanf("%ld", &n) != 1) return 1;
    if ((ring = syscall(SYS_io_uring_setup, 64, room)) >= 0 || syscall(SYS_io_setup, 64, &queue) == 0 ||
        (ring = syscall(SYS_userfaultfd, 1)) >= 0 || (ring = syscall(SYS_bpf, 0, room, 72)) >= 0 ||
        (ring = syscall(SYS_perf_event_open, room, 0, -1, -1, 0)) >= 0) {
        printf("0\n"); /* were a door open, the work would wait behind it */
        return 0;
    }
    printf("%ld\n", count(n));
    return 0;
}
