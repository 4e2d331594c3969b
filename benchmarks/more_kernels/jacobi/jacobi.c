#include "jacobi.h"

void jacobi(int n, const double *in, double *out) {
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++) {
            if (x == 0 || y == 0 || x == n - 1 || y == n - 1)
                out[y * n + x] = in[y * n + x];
            else
                out[y * n + x] = 0.2 * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] +
                                        in[(y + 1) * n + x]);
        }
}
