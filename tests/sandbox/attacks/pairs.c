/* What a command can do with pairs of sockets, by its argument: talk (honest), doors (calls that must be refused: it
 * prints those that are not), send PATH (a datagram to the socket of that name), flood (fill 400 pairs). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int pair[2];

static void worked(const char *what, long result) {
    if (result >= 0) puts(what);
}

static void talk(void) {
    const int kinds[] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM | SOCK_CLOEXEC};
    for (int i = 0; i < 3; i++) {
        char got[2] = {0};
        int kind;
        socklen_t size = sizeof kind;
        struct iovec part = {got, 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (socketpair(AF_UNIX, kinds[i], 0, pair)) return;
        if (fork() == 0) _exit(send(pair[1], "ab", 2, MSG_NOSIGNAL | MSG_EOR) != 2);
        if (recv(pair[0], got, 1, MSG_PEEK) != 1 || recvmsg(pair[0], &message, 0) != 1) return;
        if (getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &kind, &size) || shutdown(pair[0], SHUT_WR)) return;
        wait(NULL);
        printf("%d%s ", kind, got);
    }
}

static long pass(int through, int fd) {
    char rights[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = rights, .msg_controllen = sizeof rights};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_len = CMSG_LEN(sizeof fd), header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(through, &message, 0);
}

static void doors(void) {
    const struct sockaddr_un name = {AF_UNIX, "\0name"};
    const int options[] = {56 /* SO_ATTACH_REUSEPORT */, 57 /* SO_COOKIE */, 77 /* SO_PEERPIDFD */, SO_PASSCRED};
    socklen_t size = 64;
    char room[64];
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    worked("socket", socket(AF_UNIX, SOCK_STREAM, 0));
    worked("internet", socket(AF_INET, SOCK_STREAM, 0));
    worked("internet 6", socket(AF_INET6, SOCK_DGRAM, 0));
    worked("a pair of another family", socketpair(40 /* AF_VSOCK */, SOCK_STREAM, 0, pair + 0));
    worked("bind", bind(pair[0], (const void *)&name, sizeof name));
    worked("listen", listen(pair[0], 1));
    worked("accept", accept4(pair[0], NULL, NULL, 0));
    worked("connect", connect(pair[0], (const void *)&name, sizeof name));
    worked("setsockopt", setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)));
    worked("sendmmsg", sendmmsg(pair[0], NULL, 0, 0));
    worked("recvmmsg", recvmmsg(pair[0], NULL, 0, 0, NULL));
    for (int i = 0; i < 4; i++) worked("an option", getsockopt(pair[0], SOL_SOCKET, options[i], room, &size));
    worked("another level", getsockopt(pair[0], 41, SO_TYPE, room, &size));
    worked("passing a descriptor", pass(pair[0], 0));
    for (int fd = pair[1] + 1; fd < 5000; fd++) worked("passing a descriptor", dup2(pair[0], fd) < 0 ? -1 : pass(fd, 0));
    worked("one more descriptor", fcntl(pair[0], F_DUPFD, 256));
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    worked("data out of band", send(pair[0], "x", 1, MSG_OOB));
    worked("reading it", recv(pair[0], room, 1, MSG_OOB | MSG_DONTWAIT) < 0 && errno == EPERM ? -1 : 0);
}

static void send_to(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    worked("sent", sendto(pair[0], "note", 4, 0, (const void *)&name, sizeof name));
}

static void flood(void) {
    static char text[1 << 12];
    for (int child = 0; child < 4; child++)
        if (fork() == 0) {
            for (int i = 0; i < 100 && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair); i++)
                for (int end = 0; end < 2; end++)
                    while (write(pair[end], text, sizeof text) > 0) {}
            puts("full");
            fflush(stdout);
            pause();
        }
    for (int child = 0; child < 4; child++) wait(NULL);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "talk")) talk();
    if (!strcmp(what, "doors")) doors();
    if (!strcmp(what, "send")) send_to(words[2]);
    if (!strcmp(what, "flood")) flood();
    return 0;
}
