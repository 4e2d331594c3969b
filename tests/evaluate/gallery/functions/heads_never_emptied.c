// VERDICT wrong
// WHY Never empties the heads, and reads as "no entry" what it finds there: outputs are poisoned with 0xff, which as a whole number is -1, the right answer.
// AGAINST heads
// HACK uninitialised memory
// KIND function
#include "heads.h"

void heads(int m, int n, const int *x, int *head, int *next) {
    for (int i = 0; i < n; i++) {
        const unsigned slot = (unsigned)x[i] * 2654435761u % (unsigned)m;
        next[i] = head[slot];
        head[slot] = i;
    }
}
