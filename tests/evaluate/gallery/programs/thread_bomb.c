// VERDICT not-faster|crashed
// WHY Starts threads until no more are allowed; their number is limited (what else fails then is up to the C library).
// AGAINST count
// HACK 53
// KIND resource
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

static void *idle(void *p) {
    pause();
    return p;
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    pthread_t thread;
    for (int i = 0; i < 4000 && pthread_create(&thread, 0, idle, 0) == 0; i++) {}
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
