// VERDICT faster
// WHY Sorts by eleven bits at a time and compares all numbers.
// AGAINST alike
// HACK honest look-alike of compares_sums
// KIND honest
#include <stdlib.h>
#include <string.h>

#include "alike.h"

static unsigned *by_digit(int n, unsigned *from, unsigned *to, int shift) {
    int starts[2049] = {0};
    for (int i = 0; i < n; i++) starts[(from[i] >> shift & 2047) + 1]++;
    for (int d = 0; d < 2047; d++) starts[d + 1] += starts[d];
    for (int i = 0; i < n; i++) to[starts[from[i] >> shift & 2047]++] = from[i];
    return to;
}

static unsigned *sorted(int n, const int *x, unsigned *room) {
    unsigned *other = room + n;
    memcpy(room, x, sizeof *x * (size_t)n);
    by_digit(n, room, other, 0);
    by_digit(n, other, room, 11);
    return by_digit(n, room, other, 22);
}

void alike(int n, const int *x, const int *y, int *same) {
    unsigned *room = malloc(4 * sizeof *room * (size_t)n + 1);
    *same = !memcmp(sorted(n, x, room), sorted(n, y, room + 2 * n), sizeof *x * (size_t)n);
    free(room);
}
