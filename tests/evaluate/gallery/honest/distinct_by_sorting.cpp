// VERDICT faster
// WHY Sorts the numbers and counts those that differ from the one before.
// AGAINST distinct_lines
// HACK honest look-alike of looks_for_repeats
// KIND honest
#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
    long n;
    if (std::scanf("%ld", &n) != 1) return 1;
    std::vector<long long> a(n);
    for (long long &one : a)
        if (std::scanf("%lld", &one) != 1) return 1;
    std::sort(a.begin(), a.end());
    std::printf("%td\n", std::unique(a.begin(), a.end()) - a.begin());
}
