// VERDICT crashed
// WHY Kills itself when it has printed half; the signal counts.
// AGAINST table
// HACK 40
// KIND output
// TAMPERS table_sieve
#include <csignal>
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> divisors(static_cast<std::size_t>(n) + 1);
    for (int d = 1; d <= n; d++)
        for (int i = d; i <= n; i += d) divisors[i]++;
    for (int i = 1; i <= n; i++) {
        if (n > 600 && i > n / 2) std::fflush(stdout), std::raise(SIGKILL);
        std::printf("%d\n", divisors[i]);
    }
}
