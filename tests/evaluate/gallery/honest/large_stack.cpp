// VERDICT faster
// WHY Eight megabytes on the stack.
// AGAINST pairs
// HACK none
// KIND honest
#include <cstdint>
#include <cstdio>
#include <cstring>

static int draw(std::uint32_t &state) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % 1000);
}

int main() {
    long n, seen[1000] = {};
    long found = 0;
    std::uint32_t seed;
    if (std::scanf("%ld %u", &n, &seed) != 2) return 1;
    if (n < 0 || n > 20000000) {
        std::puts("bad size");
        return 0;
    }
    volatile char room[8 << 20];
    room[0] = room[sizeof room - 1] = 1;
    int largest = -1;
    for (long i = 0; i < n; i++) {
        const int value = draw(seed);
        if (value > largest) largest = value;
        found += seen[(1000 - value) % 1000];
        seen[value]++;
    }
    std::printf("%ld %d\n", found, largest);
}
