/* How many bytes one core of this machine moves in a second at most: between registers and its nearest cache (sums of
 * two arrays into a third, and sums of one), and, given a size in bytes, from memory (sums of an array of that size).
 * Prints both in 1e9 bytes per second of CPU time, the best of several tries; 0 if no size is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define NEAR (4096 / WIDTH) /* vectors of an array: three of them fit into any nearest cache */
#define SUMS 8
#define STEPS 20000
#define TRIES 25
#define FAR_TRIES 6

typedef long vector __attribute__((vector_size(WIDTH)));

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double best(double known, double bytes, double began) {
    const double rate = bytes / (seconds() - began) / 1e9;
    return rate > known ? rate : known;
}

static long sum(const vector *from, size_t count) {
    vector sums[SUMS];
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i + SUMS <= count; i += SUMS)
#pragma GCC unroll 8
        for (int j = 0; j < SUMS; j++) sums[j] += from[i + (size_t)j];
    for (int j = 1; j < SUMS; j++) sums[0] += sums[j];
    return sums[0][0];
}

static double added(vector *a, const vector *b, const vector *c) {
    const double began = seconds();
    for (int step = 0; step < STEPS; step++) {
#pragma GCC unroll 8
        for (int i = 0; i < NEAR; i++) a[i] = b[i] + c[i];
        __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
    }
    return best(0, 3.0 * WIDTH * NEAR * STEPS, began);
}

static double summed(const vector *a, long *kept) {
    const double began = seconds();
    for (int step = 0; step < STEPS; step++) {
        *kept += sum(a, NEAR);
        __asm__ volatile("" : : "r"(a) : "memory");
    }
    return best(0, 1.0 * WIDTH * NEAR * STEPS, began);
}

int main(int count, char **words) {
    static vector arrays[3][NEAR] __attribute__((aligned(64)));
    const size_t size = count > 1 ? strtoul(words[1], NULL, 10) / (WIDTH * SUMS) * (WIDTH * SUMS) : 0;
    double near = 0, far = 0;
    long kept = 0;
    for (int try = 0; try < TRIES; try++) {
        const double rates[] = {added(arrays[0], arrays[1], arrays[2]), summed(arrays[0], &kept)};
        for (int i = 0; i < 2; i++) near = rates[i] > near ? rates[i] : near;
    }
    vector *large = size ? (vector *)aligned_alloc(WIDTH * SUMS, size) : NULL;
    if (size && !large) return 1;
    if (large) memset(large, 1, size);
    for (int try = 0; large && try < FAR_TRIES; try++) {
        const double began = seconds();
        kept += sum(large, size / WIDTH);
        far = best(far, (double)size, began);
    }
    printf("%.3f %.3f %ld\n", near, far, kept);
    return 0;
}
