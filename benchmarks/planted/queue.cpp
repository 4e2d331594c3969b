// INPUT 120000
#include <cstdio>
#include <vector>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> waiting(n);
    for (int i = 0; i < n; i++) waiting[i] = i * 31 % 1000;
    long sum = 0;
    while (!waiting.empty()) {
        sum = sum * 7 + waiting.front();
        waiting.erase(waiting.begin());  // BOTTLENECK data-structure|algorithm
    }
    std::printf("%ld\n", sum);
}
