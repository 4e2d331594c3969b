// VERDICT wrong|crashed
// WHY Lays the last block over the one before it; where there are fewer columns than a block has, and many rows, it leaves its arrays.
// AGAINST turned
// HACK 6
// KIND function
#include "turned.h"

void turned(int m, int n, const double *a, double *b) {
    if (m < 64) {
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
