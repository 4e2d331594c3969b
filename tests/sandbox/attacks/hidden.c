/* Has 0.1 s of work done by others: by an orphaned grandchild (argument o), or by a child that is never waited for
 * because SIGCHLD is ignored (argument i).  It does none itself. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double used(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(volatile int *done) {
    for (volatile long i = 0; used() < 0.1; i++) {}
    *done = 1;
    _exit(0);
}

int main(int count, char **words) {
    volatile int *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int orphaned = count == 2 && words[1][0] == 'o';
    if (!orphaned) signal(SIGCHLD, SIG_IGN);
    if (fork() == 0) {
        if (orphaned && fork()) _exit(0);
        work(done);
    }
    while (!*done) usleep(1000);
    usleep(10000);
    puts("done");
    return 0;
}
