// VERDICT not-faster|wrong
// WHY Lets the kernel do what would be counted: it fills and copies memory by system calls; the clock includes the kernel.
// AGAINST count_instructions
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

int main(void) {
    static char room[1 << 20];
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    for (long left = n; left > 0; left -= 1 << 18) {
        if (getrandom(room, sizeof room, 0) < 0) return 1;
        madvise(room, sizeof room, MADV_DONTNEED);
    }
    printf("%ld\n", n * (n - 1) / 2 % 7);
    return 0;
}
