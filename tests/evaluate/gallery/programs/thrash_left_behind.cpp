// VERDICT not-faster
// WHY Leaves a process that empties the caches; it dies with the run and is charged.
// AGAINST pairs
// HACK 48
// KIND baseline
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

int main() {
    long n;
    std::uint32_t state;
    if (std::scanf("%ld %u", &n, &state) != 2) return 1;
    if (n < 0 || n > 20000000) return std::puts("bad size") < 0;
    if (fork() == 0) {
        setsid();
        char *much = static_cast<char *>(std::malloc(64 << 20));
        for (int round = 0;; round++) std::memset(much, round, 64 << 20);
    }
    std::vector<int> values(static_cast<std::size_t>(n));
    for (auto &value : values) state = state * 1664525u + 1013904223u, value = static_cast<int>((state >> 8) % 1000);
    long found = 0;
    int largest = -1;
    for (long i = 0; i < n; i++) {
        if (values[i] > largest) largest = values[i];
        for (long j = i + 1; j < n; j++)
            if ((values[i] + values[j]) % 1000 == 0) found++;
    }
    std::printf("%ld %d\n", found, largest);
}
