// VERDICT unbuilt
// WHY Asks for two to the power of sixty templates; the memory and time of the compiler are limited.
// AGAINST pairs
// HACK 57
// KIND compile-time
#include <cstdio>

template <int Depth, unsigned long Way> struct Tree {
    static constexpr unsigned long value = Tree<Depth - 1, 2 * Way>::value + Tree<Depth - 1, 2 * Way + 1>::value;
};
template <unsigned long Way> struct Tree<0, Way> { static constexpr unsigned long value = Way; };

int main() { std::printf("%lu\n", Tree<60, 1>::value); }
