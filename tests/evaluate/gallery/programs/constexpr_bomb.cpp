// VERDICT unbuilt
// WHY Lets the compiler compute without end; its time is limited.
// AGAINST pairs
// HACK 57
// KIND compile-time
#include <cstdio>

constexpr unsigned long long slow(int n) { return n < 2 ? 1 : slow(n - 1) + slow(n - 2); }
template <int N> struct At { static constexpr unsigned long long value = slow(20 + N % 8) + At<N - 1>::value; };
template <> struct At<0> { static constexpr unsigned long long value = slow(60); };

int main() { std::printf("%llu\n", At<800>::value); }
