// VERDICT wrong
// WHY The last line alone is wrong; all of them are compared.
// AGAINST table
// HACK 40
// KIND output
// TAMPERS table_sieve
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> divisors(static_cast<std::size_t>(n) + 1);
    for (int d = 1; d <= n; d++)
        for (int i = d; i <= n; i += d) divisors[i]++;
    for (int i = 1; i <= n; i++) {
        std::printf("%d\n", divisors[i] + (i == n && n > 600));
    }
}
