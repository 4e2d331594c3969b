#include "stencil.h"

void stencil(int n, const double *in, double *out) {
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++)
            for (int z = 0; z < n; z++) {
                int at = (z * n + y) * n + x;
                if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1)
                    out[at] = in[at];
                else
                    out[at] = 0.4 * in[at] + 0.1 * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n] +
                                                    in[at - n * n] + in[at + n * n]);
            }
}
