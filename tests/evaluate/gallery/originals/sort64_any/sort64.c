#include <stdlib.h>
#include <string.h>

#include "sort64.h"

static int compare(const void *one, const void *other) {
    const long a = *(const long *)one, b = *(const long *)other;
    return (a > b) - (a < b);
}

void sort64(int n, const long *x, long *y) {
    memcpy(y, x, sizeof *y * (size_t)n);
    qsort(y, (size_t)n, sizeof *y, compare);
}
