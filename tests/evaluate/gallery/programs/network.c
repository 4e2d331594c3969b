// VERDICT not-faster
// WHY Asks a service on the machine, its host or the network for the answer; no socket can be made.
// AGAINST count
// HACK 54
// KIND run-time
#define _GNU_SOURCE
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_VSOCK, AF_NETLINK, AF_ALG};
    for (int i = 0; i < 6; i++)
        if (socket(families[i], SOCK_STREAM, 0) >= 0 || socket(families[i], SOCK_RAW, 0) >= 0) answer = 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
