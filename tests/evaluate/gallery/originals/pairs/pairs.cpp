#include <cstdint>
#include <cstdio>
#include <vector>

static int draw(std::uint32_t &state) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % 1000);
}

int main() {
    long n;
    std::uint32_t seed;
    if (std::scanf("%ld %u", &n, &seed) != 2) return 1;
    if (n < 0 || n > 20000000) {
        std::puts("bad size");
        return 0;
    }
    std::vector<int> values(static_cast<std::size_t>(n));
    for (auto &value : values) value = draw(seed);
    long found = 0;
    int largest = -1;
    for (long i = 0; i < n; i++) {
        if (values[i] > largest) largest = values[i];
        for (long j = i + 1; j < n; j++)
            if ((values[i] + values[j]) % 1000 == 0) found++;
    }
    std::printf("%ld %d\n", found, largest);
}
