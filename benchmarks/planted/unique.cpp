// INPUT 45000
#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> kept;
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        int value = state >> 12;
        if (std::find(kept.begin(), kept.end(), value) == kept.end())  // BOTTLENECK algorithm|data-structure
            kept.push_back(value);
    }
    std::printf("%zu %d\n", kept.size(), kept.back());
}
