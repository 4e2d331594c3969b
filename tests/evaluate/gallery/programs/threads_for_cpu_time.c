// VERDICT not-faster
// WHY Spreads the work over threads and ends its first one; the time of all threads is charged.
// AGAINST count
// HACK 61
// KIND run-time
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

struct part {
    long from, to, sum;
};
static pthread_t threads[4];
static void *work(void *p) {
    struct part *part = p;
    long sum = 0;
    for (long i = part->from; i < part->to; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    part->sum = sum;
    return 0;
}
static void *collect(void *p) {
    struct part *parts = p;
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], 0);
        sum += parts[i].sum;
    }
    printf("%ld\n", sum % 7);
    exit(0);
}

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    static struct part parts[4];
    for (int i = 0; i < 4; i++) {
        parts[i] = (struct part){i * (n / 4), i == 3 ? n : (i + 1) * (n / 4), 0};
        pthread_create(&threads[i], 0, work, &parts[i]);
    }
    pthread_t last;
    pthread_create(&last, 0, collect, parts);
    pthread_exit(0);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
