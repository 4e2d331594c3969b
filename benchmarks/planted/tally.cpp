// INPUT 3000000
#include <cstdio>
#include <map>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::map<int, int> counts;
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        counts[(state >> 10) % 50000]++;  // BOTTLENECK data-structure
    }
    long sum = 0;
    for (auto &entry : counts) sum += long(entry.first) * entry.second;
    std::printf("%ld\n", sum);
}
