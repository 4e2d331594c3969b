// VERDICT not-faster
// WHY Writes over every file it can reach, its own program and those of process 1 among them; all are sealed or hidden.
// AGAINST count
// HACK 49
// KIND baseline
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
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
    for (int fd = 0; fd < 128; fd++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
        int file = open(path, O_RDWR);
        if (file >= 0 && pwrite(file, "#!/bin/false", 12, 0) > 0) answer = 0;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (fd != 1 && fd != 2 && (file = open(path, O_WRONLY)) >= 0 && pwrite(file, "12", 2, 0) > 0) answer = 0;
    }
    const int self = open("/proc/self/exe", O_RDONLY);
    if (mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, self, 0) != MAP_FAILED) answer = 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
