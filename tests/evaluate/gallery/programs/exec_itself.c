// VERDICT not-faster
// WHY Starts itself anew with a preloaded library that would do the work; no such library can be written.
// AGAINST count
// HACK 47
// KIND run-time
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
    if (!getenv("MCGALLERY")) {
        const int library = open("/tmp/mcgallery.so", O_CREAT | O_WRONLY, 0755);
        if (library >= 0) close(library);
        setenv("MCGALLERY", "1", 1);
        setenv("LD_PRELOAD", "/tmp/mcgallery.so", 1);
        lseek(0, 0, SEEK_SET);
        execv("/proc/self/exe", argv);
    }
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
