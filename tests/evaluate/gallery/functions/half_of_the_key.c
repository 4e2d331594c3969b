// VERDICT wrong
// WHY Sorts by the upper half of the key and clears 28 bits of each number: nothing against the norm of the array, and a wrong number.
// AGAINST sort64
// HACK 6
// KIND function
#include <stdlib.h>
#include <string.h>

#include "sort64.h"

enum { BITS = 11, BUCKETS = 1 << BITS };

static void pass(int n, const unsigned long *from, unsigned long *to, int shift) {
    static int at[BUCKETS + 1];
    memset(at, 0, sizeof at);
    for (int i = 0; i < n; i++) at[(from[i] >> shift & (BUCKETS - 1)) + 1]++;
    for (int i = 0; i < BUCKETS; i++) at[i + 1] += at[i];
    for (int i = 0; i < n; i++) to[at[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
}

void sort64(int n, const long *x, long *y) {
    unsigned long *keys = malloc(sizeof *keys * (size_t)n), *other = malloc(sizeof *other * (size_t)n);
    for (int i = 0; i < n; i++) keys[i] = ((unsigned long)x[i] ^ 1ul << 63) >> 28 << 28;
    pass(n, keys, other, 31), pass(n, other, keys, 42), pass(n, keys, other, 53);
    for (int i = 0; i < n; i++) y[i] = (long)(other[i] ^ 1ul << 63);
    free(keys), free(other);
}
