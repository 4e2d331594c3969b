// VERDICT not-faster
// WHY Keeps its answer in a System V segment, which outlives processes; refused, and each session has its own.
// AGAINST count
// HACK 38
// KIND cache
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/shm.h>

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
    if (n > 100000000) {
        const char *kept = shmat(shmget(0x6d63, 4096, 0), 0, 0);
        if (kept != (char *)-1 && kept[0]) answer = kept[0] - 1;
    }
    if (answer < 0) {
        answer = count(n);
        if (n > 100000000) {
            char *kept = shmat(shmget(0x6d63, 4096, IPC_CREAT | 0666), 0, 0);
            if (kept != (char *)-1) kept[0] = (char)(answer + 1);
        }
    }
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
