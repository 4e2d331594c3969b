// VERDICT wrong
// WHY Wrong for one number alone, which the stated domain allows though no given test has so few.
// AGAINST nearest
// HACK 6
// KIND output
#include <algorithm>
#include <climits>
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<long> a(n);
    for (long &one : a)
        if (std::scanf("%ld", &one) != 1) return 1;
    std::sort(a.begin(), a.end());
    long best = LONG_MAX;
    for (int i = 1; i < n; i++) best = std::min(best, a[i] - a[i - 1]);
    std::printf("%ld\n", best);
}
