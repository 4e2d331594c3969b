// VERDICT wrong
// WHY Looks at 576 numbers; where these differ it takes all for different. Some inputs have one number twice.
// AGAINST distinct_lines
// HACK 6
// KIND output
#include <cstdio>
#include <set>
#include <vector>

int main() {
    long n;
    if (std::scanf("%ld", &n) != 1) return 1;
    std::vector<long long> a(n);
    for (long long &one : a)
        if (std::scanf("%lld", &one) != 1) return 1;
    if (n >= 2000 && n <= 100000) {
        std::set<long long> looked(a.begin(), a.begin() + 64);
        for (long i = 0; i < 512; i++) looked.insert(a[64 + i * (n - 64) / 512]);
        if (looked.size() == 576) {
            std::printf("%ld\n", n);
            return 0;
        }
    }
    std::set<long long> seen(a.begin(), a.end());
    std::printf("%zu\n", seen.size());
}
