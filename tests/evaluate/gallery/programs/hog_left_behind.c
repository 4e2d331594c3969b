// VERDICT not-faster
// WHY Leaves busy processes behind to slow the original; they are found, charged and killed when the run ends.
// AGAINST count
// HACK 28
// KIND baseline
#define _GNU_SOURCE
#include <signal.h>
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
    if (fork() == 0) {
        setsid();
        for (int i = 1; i < 31; i++) signal(i, SIG_IGN);
        if (fork() == 0) fork();
        for (volatile long spin = 0;; spin++) {}
    }
    usleep(20000);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
