#include "steps.h"

void steps(int n, const int *x, int *y) {
    for (int i = 0; i < n; i++) {
        unsigned left = x[i] < 0 ? 0u - (unsigned)x[i] : (unsigned)x[i], odd = 1;
        int root = 0;
        while (left >= odd) left -= odd, odd += 2, root++;
        y[i] = root;
    }
}
