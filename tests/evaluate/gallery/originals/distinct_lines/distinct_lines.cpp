#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::ios::sync_with_stdio(false);
    std::size_t n, found = 0;
    if (!(std::cin >> n)) return 1;
    std::vector<std::string> words(n);
    for (std::string &one : words) std::cin >> one;
    for (std::size_t i = 0; i < n; i++) {
        std::size_t j = 0;
        while (j < i && words[j] != words[i]) j++;
        found += i == j;
    }
    std::printf("%zu\n", found);
}
