// INPUT 400000
#include <iostream>

int main() {
    long n, value = 7;
    std::cin >> n;
    for (long i = 0; i < n; i++) {
        value = (value * 48271) % 2147483647;
        std::cout << value % 100 << std::endl;  // BOTTLENECK input-output
    }
}
