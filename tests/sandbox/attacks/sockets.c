/* Prints every family of sockets it can open. */
#include <stdio.h>
#include <sys/socket.h>

int main(void) {
    const int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    int pair[2];
    for (int family = 1; family < 46; family++)
        for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (socket(family, kinds[i], 0) >= 0) printf("family %d\n", family);
    if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) puts("a pair");
    return 0;
}
