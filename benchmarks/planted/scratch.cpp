// INPUT 4000000
#include <cstdio>
#include <string>
#include <vector>

__attribute__((noinline)) static int digits(long value, std::vector<int> &out) {
    while (value) { out.push_back(value % 10); value /= 10; }
    return out.size();
}

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        std::vector<std::string> fresh(3, std::string(40, 'x'));  // BOTTLENECK allocation
        sum += fresh[i % 3].size() + fresh[i % 2][i % 40];
    }
    std::vector<int> out;
    sum += digits(sum, out);
    std::printf("%ld\n", sum);
}
