// VERDICT faster
// WHY Sorts the numbers, and says what there is to say of one alone.
// AGAINST nearest
// HACK honest look-alike of never_with_one_number
// KIND honest
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
    std::printf("%ld\n", n > 1 ? best : -1);
}
