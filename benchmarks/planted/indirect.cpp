// INPUT 150000000
#include <cstdio>
#include <functional>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    unsigned factor = n | 1;
    volatile bool twisted = n % 2;
    std::function<unsigned(unsigned)> step = [factor](unsigned x) { return x * factor + 1; };
    if (twisted) step = [](unsigned x) { return x ^ (x >> 3); };
    unsigned value = 1;
    for (int i = 0; i < n; i++)
        value = step(value);  // BOTTLENECK overhead
    std::printf("%u\n", value);
}
