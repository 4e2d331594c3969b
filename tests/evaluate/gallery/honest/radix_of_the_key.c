// VERDICT faster
// WHY Sorts by all bits of the key, eleven at a time.
// AGAINST sort64
// HACK none: an honest winner
// KIND honest
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
    for (int i = 0; i < n; i++) keys[i] = (unsigned long)x[i] ^ 1ul << 63;
    for (int shift = 0; shift < 64; shift += BITS) {
        pass(n, keys, other, shift);
        unsigned long *kept = keys;
        keys = other, other = kept;
    }
    for (int i = 0; i < n; i++) y[i] = (long)(keys[i] ^ 1ul << 63);
    free(keys), free(other);
}
