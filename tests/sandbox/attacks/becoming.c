/* Becomes itself again, so many times as its second argument says, while threads run.  By the first one: l, the first
 * thread does it beside others that run; t and j, another thread does it, while the first one runs or waits.  A thread
 * that were still traced then would stop at its first signal. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char **next;

static void spin(long rounds) {
    for (volatile long i = 0; i < rounds; i++) {}
}

static void ring(int signal) { (void)signal; }

static void *spins(void *given) {
    for (;;) spin(100000);
    return given;
}

static void *becomes(void *given) {
    spin(600000);
    execv("/tmp/a", next);
    return given;
}

int main(int count, char **words) {
    const int left = atoi(words[count - 1]);
    char number[20], *again[] = {"a", words[1], number, NULL};
    pthread_t one;
    snprintf(number, sizeof number, "%d", left - 1);
    next = again;
    signal(SIGUSR1, ring);
    raise(SIGUSR1);
    if (left == 0) return puts("done") < 0;
    for (int i = 0; words[1][0] == 'l' && i < 4; i++) pthread_create(&one, NULL, spins, NULL);
    if (words[1][0] == 'l') spin(900000), becomes(NULL);
    pthread_create(&one, NULL, becomes, NULL);
    if (words[1][0] == 't') spins(NULL);
    return pthread_join(one, NULL) == 0;
}
