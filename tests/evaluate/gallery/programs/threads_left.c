// VERDICT wrong
// WHY Returns from main while a thread still works; the process ends without its answer.
// AGAINST count
// HACK 22
// KIND run-time
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static void *late(void *n) {
    printf("%ld\n", count(*(long *)n));
    return 0;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    pthread_t thread;
    pthread_create(&thread, 0, late, &n);
    usleep(500);
    return 0;
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
