#include <cstdio>
#include <vector>

int main() {
    int cases;
    if (std::scanf("%d", &cases) != 1) return 1;
    while (cases-- > 0) {
        int n;
        if (std::scanf("%d", &n) != 1) return 1;
        std::vector<int> a(n);
        for (int &one : a)
            if (std::scanf("%d", &one) != 1) return 1;
        long pairs = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) pairs += __builtin_popcount(a[i] ^ a[j]) < 5;
        std::printf("%ld\n", pairs);
    }
}
