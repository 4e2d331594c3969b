// VERDICT wrong
// WHY Lets a timer end the work after a millisecond and answers what it has.
// AGAINST count
// HACK 25
// KIND timer
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static void enough(int signal) {
    (void)signal;
    _exit(write(1, "3\n", 2) != 2);
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    signal(SIGPROF, enough);
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 1000}}, 0);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
