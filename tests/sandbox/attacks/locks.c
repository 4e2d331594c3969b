/* speaks ("say") or listens: whether a number travels to another program by the locks of a file that both have open */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const int files[] = {0, 3, open("/dev/null", O_RDONLY)};
    int heard = 0;
    for (int i = 0; i < 3; i++) {
        struct flock lock = {.l_type = F_RDLCK, .l_start = 4242, .l_len = 1};
        if (argc > 1 && !strcmp(argv[1], "say")) {
            heard += !fcntl(files[i], F_OFD_SETLK, &lock) + !flock(files[i], LOCK_SH | LOCK_NB);
            continue;
        }
        lock = (struct flock){.l_type = F_WRLCK};
        if (!fcntl(files[i], F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK && lock.l_start == 4242) heard++;
    }
    if (argc > 1) usleep(1500000);
    printf("%d\n", heard);
    return 0;
}
