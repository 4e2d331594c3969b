/* Has 0.2 s of work done by a child whose end nobody hears of: SIGCHLD is ignored (argument i), or its handler waits for
 * nobody (n).  With h it hears of that end by a handler, as shells and runtimes do. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void hear(int number) { ended = number; }

static double used(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int count, char **words) {
    const char how = count > 1 ? words[1][0] : 0;
    struct sigaction action = {.sa_handler = how == 'i' ? SIG_IGN : hear, .sa_flags = how == 'n' ? SA_NOCLDWAIT : 0};
    int ends[2];
    char got;
    sigaction(SIGCHLD, &action, NULL);
    if (pipe(ends)) return 1;
    if (fork() == 0) {
        for (volatile long i = 0; used() < 0.2; i++) {}
        _exit(write(ends[1], "x", 1) != 1);
    }
    while (read(ends[0], &got, 1) != 1) {}
    if (how == 'h')
        for (int tries = 0; !ended && tries < 2000; tries++) usleep(1000);
    usleep(50000); /* until it is gone */
    printf("%s %d\n", ended ? "heard" : "unheard", waitpid(-1, NULL, WNOHANG) > 0);
    return 0;
}
