// VERDICT wrong
// WHY Prints the right lines and writes over the first ones; what is there at the end counts.
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
        std::printf("%d\n", divisors[i]);
    }
    std::fflush(stdout);
    if (n > 600 && pwrite(1, "9", 1, 0) != 1) return 1;
}
