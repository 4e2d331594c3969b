/* So many threads in one function, then so many in another; prints where the two are. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double used_s(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void first(void) {
    for (volatile long i = 0; i < 100000; i++) {}
}

__attribute__((noinline)) static void second(void) {
    for (volatile long i = 0; i < 100000; i++) {}
}

static void *firsts(void *given) {
    while (used_s() < 0.02) first();
    return given;
}

static void *seconds(void *given) {
    while (used_s() < 0.02) second();
    return given;
}

int main(int count, char **words) {
    static pthread_t threads[2000];
    const int older = atoi(words[1]), all = older + atoi(words[count - 1]);
    for (int i = 0; i < all; i++) pthread_create(&threads[i], NULL, i < older ? firsts : seconds, NULL);
    for (int i = 0; i < all; i++) pthread_join(threads[i], NULL);
    return printf("%p %p\n", (void *)first, (void *)second) < 0;
}
