#include "mix.h"

void mix(int n, const int *x, int *y) {
    for (int i = 0; i < n; i++) {
        int v = x[i];
        for (int round = 0; round < 64; round++) v = (v ^ v >> 15) * 739982445 + round;
        y[i] = v;
    }
}
