// VERDICT faster
// WHY Blocks where there are as many rows and columns as a block has.
// AGAINST turned
// HACK honest look-alike of last_block_over_the_one_before
// KIND honest
#include "turned.h"

void turned(int m, int n, const double *a, double *b) {
    if (m < 64 || n < 16) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) b[j * m + i] = a[i * n + j];
        return;
    }
    for (int i = 0; i < m; i += 16)
        for (int j = 0; j < n; j += 16) {
            const int row = i + 16 <= m ? i : m - 16, column = j + 16 <= n ? j : n - 16;
            for (int y = column; y < column + 16; y++)
                for (int x = row; x < row + 16; x++) b[y * m + x] = a[x * n + y];
        }
}
