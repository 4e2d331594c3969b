#include "sweep.h"

/* Each inner element becomes the mean of itself and its neighbours, of which those before it have changed already. */
void sweep(int n, double *A) {
    for (int i = 1; i <= n - 2; i++) {
        for (int j = 1; j <= n - 2; j++) {
            A[i * n + j] = (A[(i - 1) * n + j] + A[i * n + j - 1] + A[i * n + j] + A[i * n + j + 1]
                            + A[(i + 1) * n + j]) / 5.0;
        }
    }
}
