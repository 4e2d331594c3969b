// INPUT 150000
#include <cstdio>
#include <vector>

__attribute__((noinline)) int at(std::vector<int> values, int index) {
    return values[index % values.size()];
}

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    std::vector<int> values(20000);
    for (int i = 0; i < 20000; i++) values[i] = i * 17 % 1009;
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += at(values, i * 13);  // BOTTLENECK allocation|memory-bandwidth
    std::printf("%ld\n", sum);
}
