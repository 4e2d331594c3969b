/* Leaves three spinning processes behind, detached in every way, and ends well as soon as each that could be started
 * has spun for 3 ms of its own. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void spin(volatile int *spun) {
    struct timespec used;
    for (;;) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        if (used.tv_sec || used.tv_nsec > 3000000) *spun = 1;
    }
}

int main(void) {
    volatile int *spun = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int started = 0, status;
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            setsid();
            const pid_t child = fork();
            if (child) _exit(child < 0);
            for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
            for (int fd = 0; fd < 64; fd++) close(fd);
            spin(&spun[i]);
        }
    while (wait(&status) > 0) started += status == 0;
    while (spun[0] + spun[1] + spun[2] < started) usleep(1000);
    return 0;
}
