// VERDICT wrong
// WHY Compares sums and exclusive ors: 0, 3 and 1, 2 are not the same numbers. Some arrays are made from one another.
// AGAINST alike
// HACK 6
// KIND function
#include "alike.h"

void alike(int n, const int *x, const int *y, int *same) {
    unsigned sums = 0, bits = 0;
    for (int i = 0; i < n; i++) {
        sums += (unsigned)x[i] - (unsigned)y[i];
        bits ^= (unsigned)x[i] ^ (unsigned)y[i];
    }
    *same = !sums && !bits;
}
