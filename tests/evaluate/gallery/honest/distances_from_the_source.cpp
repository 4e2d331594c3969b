// VERDICT faster
// WHY Works out the distances from the one node that is asked for.
// AGAINST distances
// HACK look-alike: most of the original's work is left out
// KIND honest
#include <cstdio>
#include <vector>

int main() {
    int cases;
    if (std::scanf("%d", &cases) != 1) return 1;
    while (cases-- > 0) {
        int n, m, s;
        if (std::scanf("%d %d %d", &n, &m, &s) != 3) return 1;
        std::vector<int> weight(n * n, 1 << 29), far(n, 1 << 29);
        std::vector<char> done(n, 0);
        for (int u, v, w; m-- > 0;) {
            if (std::scanf("%d %d %d", &u, &v, &w) != 3) return 1;
            weight[(u - 1) * n + v - 1] = weight[(v - 1) * n + u - 1] = w;
        }
        far[s - 1] = 0;
        for (int round = 0; round < n; round++) {
            int next = -1;
            for (int i = 0; i < n; i++)
                if (!done[i] && (next < 0 || far[i] < far[next])) next = i;
            done[next] = 1;
            for (int i = 0; i < n; i++)
                if (far[next] + weight[next * n + i] < far[i]) far[i] = far[next] + weight[next * n + i];
        }
        long sum = 0;
        for (int i = 0; i < n; i++) sum += far[i];
        std::printf("%ld\n", sum);
    }
}
