// VERDICT not-faster
// WHY Leaves a thousand fast timers and alarms that are to interrupt the original; they end with their process.
// AGAINST count
// HACK 40
// KIND baseline
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
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
    const struct itimerspec soon = {{0, 100000}, {0, 100000}};
    signal(SIGALRM, SIG_IGN);
    for (int i = 0; i < 1000; i++) {
        timer_t timer;
        struct sigevent silent = {.sigev_notify = SIGEV_NONE};
        if (timer_create(CLOCK_MONOTONIC, &silent, &timer) || timer_settime(timer, 0, &soon, NULL)) break;
    }
    for (int i = 0; i < 100; i++) timerfd_settime(timerfd_create(CLOCK_MONOTONIC, 0), 0, &soon, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 100}, {0, 100}}, NULL);
    return 0;
}
