/* Leaves three spinning processes behind, detached in every way, and ends well as soon as they are there. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            setsid();
            if (fork()) _exit(0);
            for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
            for (int fd = 0; fd < 64; fd++) close(fd);
            for (volatile long i = 0;; i++) {}
        }
    for (int i = 0; i < 3; i++) wait(NULL);
    usleep(20000);
    return 0;
}
