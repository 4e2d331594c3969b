// VERDICT not-faster
// TIER2 timeout
// WHY Sleeps while a sibling in a session of its own works; every process of the run is charged.
// AGAINST count
// HACK 22
// KIND timer
#define _GNU_SOURCE
#include <stdio.h>
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
    int ends[2];
    if (pipe(ends)) return 1;
    if (vfork() == 0) {
        _exit(0);
    }
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        answer = count(n);
        if (write(ends[1], &answer, sizeof answer) < 0) _exit(1);
        for (;;) pause();
    }
    if (read(ends[0], &answer, sizeof answer) < 0) return 1;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
