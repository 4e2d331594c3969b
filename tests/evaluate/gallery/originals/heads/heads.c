#include "heads.h"

void heads(int m, int n, const int *x, int *head, int *next) {
    for (int s = 0; s < m; s++) head[s] = -1;
    for (int i = 0; i < n; i++) {
        const unsigned slot = (unsigned)x[i] * 2654435761u % (unsigned)m;
        next[i] = head[slot];
        head[slot] = i;
    }
}
