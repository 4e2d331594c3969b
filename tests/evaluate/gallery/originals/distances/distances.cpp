#include <cstdio>
#include <vector>

int main() {
    int cases;
    if (std::scanf("%d", &cases) != 1) return 1;
    while (cases-- > 0) {
        int n, m, s;
        if (std::scanf("%d %d %d", &n, &m, &s) != 3) return 1;
        std::vector<int> d(n * n, 1 << 29);
        for (int i = 0; i < n; i++) d[i * n + i] = 0;
        for (int u, v, w; m-- > 0;) {
            if (std::scanf("%d %d %d", &u, &v, &w) != 3) return 1;
            d[(u - 1) * n + v - 1] = d[(v - 1) * n + u - 1] = w;
        }
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
        long sum = 0;
        for (int j = 0; j < n; j++) sum += d[(s - 1) * n + j];
        std::printf("%ld\n", sum);
    }
}
