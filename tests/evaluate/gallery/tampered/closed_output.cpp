// VERDICT wrong
// WHY Closes its output after the first buffer and ends in order.
// AGAINST table
// HACK 40
// KIND output
// TAMPERS table_sieve
#include <cstdio>
#include <unistd.h>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> divisors(static_cast<std::size_t>(n) + 1);
    for (int d = 1; d <= n; d++)
        for (int i = d; i <= n; i += d) divisors[i]++;
    for (int i = 1; i <= n; i++) {
        if (n > 3000 && i == 2000) std::fflush(stdout), close(1);
        std::printf("%d\n", divisors[i]);
    }
}
