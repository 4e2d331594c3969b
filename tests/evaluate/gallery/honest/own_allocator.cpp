// VERDICT faster
// WHY An allocator of its own in place of operator new.
// AGAINST pairs
// HACK none
// KIND honest
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

static int draw(std::uint32_t &state) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % 1000);
}

alignas(16) static char arena[1 << 20];
static std::size_t used;
void *operator new(std::size_t size) {
    used = (used + 15) / 16 * 16 + size;
    if (used > sizeof arena) std::abort();
    return arena + used - size;
}
void operator delete(void *) noexcept {}
void operator delete(void *, std::size_t) noexcept {}

int main() {
    long n, seen[1000] = {};
    long found = 0;
    std::uint32_t seed;
    if (std::scanf("%ld %u", &n, &seed) != 2) return 1;
    if (n < 0 || n > 20000000) {
        std::puts("bad size");
        return 0;
    }
    std::vector<int> scratch(1000, 1);
    if (scratch[999] != 1) return 1;
    int largest = -1;
    for (long i = 0; i < n; i++) {
        const int value = draw(seed);
        if (value > largest) largest = value;
        found += seen[(1000 - value) % 1000];
        seen[value]++;
    }
    std::printf("%ld %d\n", found, largest);
}
