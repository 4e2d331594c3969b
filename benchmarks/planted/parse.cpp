// INPUT integers 2000000
#include <iostream>

int main() {
    long n, value, sum = 0;
    std::cin >> n;
    for (long i = 0; i < n; i++) {
        std::cin >> value;  // BOTTLENECK input-output
        sum = (sum * 31 + value) % 1000000007;
    }
    std::cout << sum << '\n';
}
