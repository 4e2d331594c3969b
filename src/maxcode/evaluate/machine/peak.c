/* How many double-precision operations one core of this machine does in a second: independent fused multiply-adds on
 * vectors, nothing else.  Prints 1e9 operations per second of CPU time, the best of several tries.
 */
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 8
#elif defined(__AVX__)
#define WIDTH 4
#else
#define WIDTH 2
#endif
#define CHAINS 8 /* enough to hide the latency of two units, few enough for 16 registers */
#define STEPS 2000000
#define TRIES 25

typedef double vector __attribute__((vector_size(8 * WIDTH)));

static volatile double start = 1;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    double best = 0;
    for (int try = 0; try < TRIES; try++) {
        vector sum[CHAINS], factor = (vector){0} + 0.999999, term = (vector){0} + 1e-6;
        for (int i = 0; i < CHAINS; i++) sum[i] = (vector){0} + start + i; /* all different, or the compiler merges them */
        const double began = seconds();
        for (long step = 0; step < STEPS; step++) {
#pragma GCC unroll 8
            for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * factor + term;
            __asm__ volatile("" : "+r"(step));
        }
        const double rate = 2.0 * WIDTH * CHAINS * STEPS / (seconds() - began) / 1e9;
        vector total = {0};
        for (int i = 0; i < CHAINS; i++) total += sum[i];
        if (rate > best && total[0] != -1) best = rate;
    }
    printf("%.3f\n", best);
    return 0;
}
