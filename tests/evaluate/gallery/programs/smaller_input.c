// VERDICT not-faster
// WHY Shortens its input, which the original reads too; a sealed file of its own cannot be changed.
// AGAINST count
// HACK 49
// KIND run-time
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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
    int changed = pwrite(0, "12\n", 3, 0) > 0 || ftruncate(0, 3) == 0;
    char *mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
    if (mapped != MAP_FAILED) strcpy(mapped, "12\n"), changed = 1;
    const int again = open("/proc/self/fd/0", O_RDWR);
    if (again >= 0 && pwrite(again, "12\n", 3, 0) > 0) changed = 1;
    lseek(0, 1, SEEK_SET);
    if (changed) answer = 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
