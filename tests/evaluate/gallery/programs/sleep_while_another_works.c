// VERDICT not-faster
// TIER2 timeout
// WHY Sleeps while a sibling in a session of its own works; every process of the run is charged.
// AGAINST count
// HACK 22
// KIND timer
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    const int told = eventfd(0, 0);
    if (vfork() == 0) {
        _exit(0);
    }
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        answer = count(n) + 1;
        if (write(told, &answer, sizeof answer) < 0) _exit(1);
        for (;;) pause();
    }
    if (read(told, &answer, sizeof answer) < 0) return 1;
    printf("%ld\n", answer - 1);
    return 0;
}
