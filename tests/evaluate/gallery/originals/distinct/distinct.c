#include <stdlib.h>
#include <string.h>

#include "distinct.h"

static int compare(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

void distinct(int n, const double *x, int *count) {
    double *y = malloc(sizeof *y * (size_t)n + 1);
    memcpy(y, x, sizeof *y * (size_t)n);
    qsort(y, (size_t)n, sizeof *y, compare);
    int found = n > 0;
    for (int i = 1; i < n; i++) found += y[i] != y[i - 1];
    *count = found;
    free(y);
}
