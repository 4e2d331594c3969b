// VERDICT wrong|crashed
// WHY Where n is the size that is timed it takes the arrays to be aligned for vectors; a caller's array need not be, nor is one of those at that size.
// AGAINST quartic
// HACK right only at addresses that are used
// KIND function
#include "quartic.h"

typedef double four __attribute__((vector_size(32)));

void quartic(int n, const double *x, double *y) {
    if (n == 20000) {
        for (int i = 0; i < n / 4; i++) {
            const four square = ((const four *)x)[i] * ((const four *)x)[i];
            ((four *)y)[i] = square * square;
        }
        return;
    }
    for (int i = 0; i < n; i++) y[i] = x[i] * x[i] * (x[i] * x[i]);
}
