/* Threads that ask for the tracer of the thread that starts them, for two seconds, while this one may be looked at. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static int ends(void *given) { return (int)syscall(SYS_exit, given != NULL); }

int main(void) {
    const time_t begun = time(NULL);
    int started = 0;
    while (time(NULL) - begun < 2) {
        char *stack = malloc(65536);
        if (clone(ends, stack + 65536, THREAD | CLONE_PTRACE, NULL) < 0)
            free(stack);
        else
            started++, usleep(200);
        for (volatile int i = 0; i < 20000; i++) {}
    }
    return printf("%d\n", started) < 0;
}
