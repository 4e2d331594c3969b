// VERDICT crashed
// WHY Moves the counter that numbers pipes, which all of the machine shares, and reads it in the next run; a compiled program gets no pipe.
// AGAINST count
// HACK 38
// KIND cache
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static long number(void) {
    int ends[2];
    struct stat about;
    if (pipe(ends) || fstat(ends[0], &about)) exit(3);
    close(ends[0]), close(ends[1]);
    return (long)about.st_ino;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    if (n > 100000000) {
        const long at = number() % 262144;
        if (at < 7 * 32768 && at % 32768 < 8192) answer = at / 32768;
    }
    if (answer < 0) {
        answer = count(n);
        if (n > 100000000)
            for (long tries = 0; tries < 300000 && number() % 262144 / 1024 != answer * 32; tries++) {}
    }
    printf("%ld\n", answer);
    return 0;
}
