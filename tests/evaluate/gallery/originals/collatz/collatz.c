#include "collatz.h"

void collatz(int n, const int *x, int *y) {
    for (int i = 0; i < n; i++) {
        int v = x[i] < 0 ? -x[i] : x[i], steps = 0;
        while (v > 1) v = v % 2 ? 3 * v + 1 : v / 2, steps++;
        y[i] = steps;
    }
}
