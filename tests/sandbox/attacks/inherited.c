/* Prints its arguments, its environment without values, and its open descriptors. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

int main(int count, char **words) {
    for (int i = 0; i < count; i++) printf("word %s\n", words[i]);
    for (char **one = environ; *one; one++) printf("variable %.*s\n", (int)strcspn(*one, "="), *one);
    for (int fd = 0; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0) printf("descriptor %d\n", fd);
    return 0;
}
