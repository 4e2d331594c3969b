#include <stdlib.h>
#include <string.h>

#include "alike.h"

static int compare(const void *one, const void *other) {
    const int a = *(const int *)one, b = *(const int *)other;
    return (a > b) - (a < b);
}

static int *sorted(int n, const int *x) {
    int *found = malloc(sizeof *found * (size_t)n + 1);
    memcpy(found, x, sizeof *found * (size_t)n);
    qsort(found, (size_t)n, sizeof *found, compare);
    return found;
}

void alike(int n, const int *x, const int *y, int *same) {
    int *one = sorted(n, x), *other = sorted(n, y);
    *same = !memcmp(one, other, sizeof *one * (size_t)n);
    free(one), free(other);
}
