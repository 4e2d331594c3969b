// VERDICT not-faster
// WHY Kills process 1 and everybody else to be alone; no signal reaches them, and the work is still to do.
// AGAINST count
// HACK 51
// KIND run-time
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
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
    const int got = kill(1, SIGKILL) == 0 && getppid() != 1;
    for (pid_t pid = 2; pid < 400; pid++)
        if (pid != getpid()) kill(pid, SIGKILL);
    kill(-1, SIGSTOP);
    if (got) answer = 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
