// VERDICT crashed|not-faster|wrong
// WHY Takes memory through many children; where there is a control group they are counted together, and which one is killed is up to the kernel.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
    for (int i = 0; i < 12; i++)
        if (fork() == 0) {
            char *some = malloc(100 << 20);
            if (some) memset(some, 1, 100 << 20);
            _exit(some == 0);
        }
    while (wait(0) > 0) {}
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
