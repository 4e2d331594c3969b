// VERDICT not-faster
// WHY Its first thread ends at once and another one works on, so that the process seems to have ended; it ends with its last thread, and so does the clock.
// AGAINST count_wall
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

static void *work(void *unused) {
    long n;
    (void)unused;
    if (scanf("%ld", &n) != 1) _exit(1);
    printf("%ld\n", count(n));
    fflush(stdout);
    _exit(0);
}

int main(void) {
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL)) return 1;
    syscall(SYS_exit, 0);
    return 0;
}
