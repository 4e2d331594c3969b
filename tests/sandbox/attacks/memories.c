/* Twelve children take 200 MB each and keep it until the parent has seen how many could. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int ends[2], holding = 0, lost = 0;
    char how;
    if (pipe(ends)) return 2;
    for (int i = 0; i < 12; i++)
        if (fork() == 0) {
            pid_t holder = fork();
            if (holder == 0) {
                volatile char *mine = malloc(200 << 20);
                if (!mine) _exit(1);
                for (long at = 0; at < 200 << 20; at += 4096) mine[at] = 1;
                if (write(ends[1], "h", 1) == 1) pause();
            }
            waitpid(holder, NULL, 0);
            _exit(write(ends[1], "l", 1) != 1);
        }
    while (holding + lost < 12 && read(ends[0], &how, 1) == 1) *(how == 'h' ? &holding : &lost) += 1;
    printf("%d", holding);
    return 0;
}
