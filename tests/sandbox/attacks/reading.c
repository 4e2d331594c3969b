/* Prints each of its arguments that can be opened, and every process but itself that can be seen. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
    for (int i = 1; i < count; i++)
        if (open(words[i], O_RDONLY) >= 0) puts(words[i]);
    DIR *processes = opendir("/proc");
    for (struct dirent *one; processes && (one = readdir(processes));)
        if (atoi(one->d_name) > 0 && atoi(one->d_name) != getpid()) printf("process %s\n", one->d_name);
    return 0;
}
