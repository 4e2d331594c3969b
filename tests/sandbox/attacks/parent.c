/* Attacks its parent, the shim: signals, tracing, its memory, its descriptors. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char byte;
    struct iovec ours = {&byte, 1}, theirs = {(void *)main, 1};
    const int parent = getppid();
    for (int number = 1; number < 65; number++) kill(parent, number);
    if (ptrace(PTRACE_ATTACH, parent, 0, 0) == 0) puts("attached");
    if (process_vm_readv(parent, &ours, 1, &theirs, 1, 0) > 0) puts("read its memory");
    if (open("/proc/1/mem", O_RDWR) >= 0) puts("opened its memory");
    if (open("/proc/1/fd", O_RDONLY) >= 0) puts("opened its descriptors");
    if (syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, parent, 0), 0, 0) >= 0) puts("took a descriptor");
    printf("parent %d\n", parent);
    return 0;
}
