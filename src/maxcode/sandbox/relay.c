/* Carries connections from a TCP port of the loopback interface to a Unix socket: relay PORT SOCKET.
   In a network namespace of its own, the socket is the only way out. */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int carry(int from, int to) {
    char part[1 << 16];
    ssize_t had = read(from, part, sizeof part);
    for (ssize_t at = 0; at < had;) {
        ssize_t sent = write(to, part + at, (size_t)(had - at));
        if (sent <= 0) return 0;
        at += sent;
    }
    return had > 0;
}

static void both_ways(int one, int other) {
    struct pollfd ends[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
    int open_ends = 2;
    while (open_ends > 0 && poll(ends, 2, -1) > 0)
        for (int i = 0; i < 2; i++)
            if (ends[i].fd >= 0 && ends[i].revents && !carry(i ? other : one, i ? one : other)) {
                shutdown(i ? one : other, SHUT_WR);
                ends[i].fd = -1;
                open_ends--;
            }
}

int main(int argc, char **argv) {
    if (argc != 3 || strlen(argv[2]) >= sizeof ((struct sockaddr_un *)0)->sun_path) return 2;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[1]))};
    struct sockaddr_un there = {.sun_family = AF_UNIX};
    strcpy(there.sun_path, argv[2]);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    int door = socket(AF_INET, SOCK_STREAM, 0);
    if (door < 0 || bind(door, (struct sockaddr *)&here, sizeof here) || listen(door, 64)) {
        perror("relay");
        return 1;
    }
    if (fork() != 0) return 0; /* it listens: the caller may go on */
    for (;;) {
        int one = accept(door, NULL, NULL);
        if (one < 0 || fork() != 0) {
            if (one >= 0) close(one);
            continue;
        }
        int other = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(other, (struct sockaddr *)&there, sizeof there) == 0) both_ways(one, other);
        _exit(0);
    }
}
