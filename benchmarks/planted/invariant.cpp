// INPUT 30000
#include <cstdio>
#include <vector>

static long asked = 0;

__attribute__((noinline)) long weight(const std::vector<int> &values) {
    long sum = 0;
    asked++;
    for (int value : values)
        sum = (sum >> 1) + value * 3L;
    return sum;
}

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> values(n);
    for (int i = 0; i < n; i++) values[i] = i % 97;
    long answer = 0;
    for (int i = 0; i < n; i++)
        answer += values[i] * 100 / (1 + weight(values));  // BOTTLENECK algorithm
    std::printf("%ld %ld\n", answer, asked);
}
