// VERDICT not-faster
// WHY Stops itself while a child works, because a stopped process uses no time; the child is charged, and the wall clock runs.
// AGAINST count_wall
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
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

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    const pid_t child = fork();
    if (child == 0) {
        printf("%ld\n", count(n));
        fflush(stdout);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    if (child < 0) {
        printf("%ld\n", count(n));
        return 0;
    }
    raise(SIGSTOP);
    waitpid(child, NULL, 0);
    return 0;
}
