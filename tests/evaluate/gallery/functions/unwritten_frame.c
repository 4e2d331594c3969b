// VERDICT wrong
// WHY Reads in every call what the frame of an earlier call left on the stack; in this call nobody wrote it.
// AGAINST window
// HACK 38
// KIND function
#include "window.h"

static int known;

__attribute__((noinline)) static double nothing(void) {
    double kept[64];
    __asm__ volatile("" : : "r"(kept) : "memory");
    if (!known) kept[40] = 0.0, known = 1;
    __asm__ volatile("" : : "r"(kept) : "memory");
    return kept[40];
}

void window(int n, int w, const double *X, double *Y) {
    double sum = nothing();
    for (int j = 0; j < w; j++) sum += X[j];
    for (int i = 0; i < n; i++) {
        Y[i] = sum;
        sum += X[i + w] - X[i];
    }
}
