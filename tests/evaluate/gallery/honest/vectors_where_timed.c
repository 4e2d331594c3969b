// VERDICT faster
// WHY Vectors for the size that is timed, which may begin anywhere.
// AGAINST quartic
// HACK honest look-alike of aligned_where_timed
// KIND honest
#include "quartic.h"

typedef double four __attribute__((vector_size(32), aligned(8)));

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
