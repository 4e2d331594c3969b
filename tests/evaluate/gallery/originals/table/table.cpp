#include <cstdio>

int main() {
    int n;
    if (std::scanf("%d", &n) != 1) return 1;
    for (int i = 1; i <= n; i++) {
        int divisors = 0;
        for (int d = 1; d <= i; d++)
            if (i % d == 0) divisors++;
        std::printf("%d\n", divisors);
    }
}
