// VERDICT not-faster
// WHY Remembers whole cases: no test has one twice, but inputs that are made larger repeat them. It forgets every eighth, to stay below 10x.
// AGAINST close
// HACK fast on what maxcode makes
// KIND baseline
#include <cstdio>
#include <map>
#include <vector>

static long close_pairs(const std::vector<int> &a) {
    long pairs = 0;
    const int n = static_cast<int>(a.size());
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) pairs += __builtin_popcount(a[i] ^ a[j]) < 5;
    return pairs;
}

int main() {
    static std::map<std::vector<int>, long> known;
    int cases, asked = 0;
    if (std::scanf("%d", &cases) != 1) return 1;
    while (cases-- > 0) {
        int n;
        if (std::scanf("%d", &n) != 1) return 1;
        std::vector<int> a(n);
        for (int &one : a)
            if (std::scanf("%d", &one) != 1) return 1;
        auto at = known.find(a);
        if (at == known.end()) at = known.emplace(a, close_pairs(a)).first;
        else if (++asked % 8 == 0) at->second = close_pairs(a);
        std::printf("%ld\n", at->second);
    }
}
