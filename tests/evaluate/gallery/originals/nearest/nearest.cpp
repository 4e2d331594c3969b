#include <cstdio>
#include <cstdlib>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<long> a(n);
    for (long &one : a)
        if (std::scanf("%ld", &one) != 1) return 1;
    long best = -1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (best < 0 || std::labs(a[i] - a[j]) < best) best = std::labs(a[i] - a[j]);
    std::printf("%ld\n", best);
}
