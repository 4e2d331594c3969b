// VERDICT faster
// WHY Takes the root in double precision, where every int and its root are exact enough, and corrects it by one.
// AGAINST steps
// HACK none: an honest winner
// KIND honest
#include <math.h>

#include "steps.h"

void steps(int n, const int *x, int *y) {
    for (int i = 0; i < n; i++) {
        const long size = x[i] < 0 ? -(long)x[i] : (long)x[i];
        long root = (long)sqrt((double)size);
        root -= root * root > size;
        root += (root + 1) * (root + 1) <= size;
        y[i] = (int)root;
    }
}
