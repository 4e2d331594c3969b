// The state of a mixing generator: reads a seed and a number of rounds, prints the 64-bit state after them.
// Every round needs the result of the one before it.
#include <cstdint>
#include <cstdio>

int main() {
    unsigned long long seed;
    long long rounds;
    if (scanf("%llu %lld", &seed, &rounds) != 2)
        return 1;
    uint64_t x = seed;
    for (long long i = 0; i < rounds; i++) {
        x ^= x >> 31;
        x *= 0x9e3779b97f4a7c15ULL;
        x += i;
    }
    printf("%016llx\n", (unsigned long long)x);
    return 0;
}
