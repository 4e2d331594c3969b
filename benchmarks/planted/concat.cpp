// INPUT 150000
#include <iostream>
#include <string>

int main() {
    int n;
    std::cin >> n;
    std::string line;
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        line = line + char('a' + (state >> 16) % 26);  // BOTTLENECK algorithm|allocation
    }
    unsigned sum = 0;
    for (char c : line) sum = sum * 31 + c;
    std::cout << sum << '\n';
}
