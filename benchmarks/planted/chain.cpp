// INPUT 400000
#include <algorithm>
#include <cstdio>
#include <list>
#include <numeric>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::list<int> values;
    for (int i = 0; i < n; i++) values.push_back((i * 48271L) % 1000003);
    values.sort();
    long sum = 0;
    for (int pass = 1; pass <= 12; pass++)
        for (int value : values)  // BOTTLENECK data-structure|memory-latency
            sum += value / pass;
    std::printf("%ld\n", sum);
}
