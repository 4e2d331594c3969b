// VERDICT faster
// WHY Counts divisors by a sieve.
// AGAINST table
// HACK none: an honest winner
// KIND honest
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> divisors(static_cast<std::size_t>(n) + 1);
    for (int d = 1; d <= n; d++)
        for (int i = d; i <= n; i += d) divisors[i]++;
    for (int i = 1; i <= n; i++) {
        std::printf("%d\n", divisors[i]);
    }
}
