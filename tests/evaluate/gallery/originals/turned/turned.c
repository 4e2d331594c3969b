#include "turned.h"

void turned(int m, int n, const double *a, double *b) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) b[j * m + i] = a[i * n + j];
}
