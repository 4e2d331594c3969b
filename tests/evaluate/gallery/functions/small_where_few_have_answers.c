// VERDICT wrong
// WHY A table up to 1023 wherever 16 values are below it; the original knows a hundred times more, but not all ints, so a mixture of all has no answer.
// AGAINST collatz
// HACK 6
// KIND function
#include "collatz.h"

static int walked(int v) {
    int steps = 0;
    for (v = v < 0 ? -v : v; v > 1; steps++) v = v % 2 ? 3 * v + 1 : v / 2;
    return steps;
}

void collatz(int n, const int *x, int *y) {
    static int table[1024], ready;
    int small = n > 1000;
    for (int i = 0; small && i < 16; i++) {
        const int value = x[(long)(n - 1) * i / 15];
        small = value > -1024 && value < 1024;
    }
    if (!small) {
        for (int i = 0; i < n; i++) y[i] = walked(x[i]);
        return;
    }
    for (int v = 0; !ready && v < 1024; v++) table[v] = walked(v);
    ready = 1;
    for (int i = 0; i < n; i++) y[i] = table[(x[i] < 0 ? -x[i] : x[i]) & 1023];
}
