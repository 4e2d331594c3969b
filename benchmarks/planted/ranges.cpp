// INPUT 40000
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> values(n);
    for (int i = 0; i < n; i++) values[i] = (i * 7919L) % 1000;
    unsigned long answer = 0;
    for (int query = 0; query < n; query++) {
        unsigned long sum = 0;
        for (int i = 0; i <= query; i++)
            sum = (sum ^ i) + values[i];  // BOTTLENECK algorithm
        answer = answer * 31 + sum;
    }
    std::printf("%lu\n", answer);
}
