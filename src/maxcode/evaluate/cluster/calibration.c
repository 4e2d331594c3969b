/* A fixed amount of work; its time compares a benchmark node with itself and with other nodes: integer arithmetic,
   floating-point arithmetic from the nearest cache, and dependent loads from a larger cache. */
#include <stdio.h>

enum { SMALL = 2048, LARGE = 1 << 18 };
static double left[SMALL], right[SMALL];
static unsigned next[LARGE];

int main(void) {
    unsigned x = 1;
    for (int i = 0; i < 8000000; i++) x = x * 1664525u + 1013904223u;
    for (int i = 0; i < SMALL; i++) {
        left[i] = i % 7;
        right[i] = i % 5;
    }
    double sum = 0;
    for (int round = 0; round < 4000; round++)
        for (int i = 0; i < SMALL; i++) sum += left[i] * right[i];
    unsigned at = 0;
    for (unsigned i = 0; i < LARGE; i++) next[i] = (i * 1664525u + 1013904223u) % LARGE;
    for (int i = 0; i < 1000000; i++) at = next[at];
    printf("%u %.0f %u\n", x, sum, at);
    return 0;
}
