#include <cstdio>

static unsigned mixed(unsigned x) {
    for (int i = 0; i < 4; i++) x = (x * 0x9E3779B1u + 12345u) & 0xFFFFFFFu, x ^= x >> 13;
    return x;
}

int main() {
    unsigned wanted, x = 0;
    if (std::scanf("%u", &wanted) != 1 || wanted >> 28) return 1;
    while (mixed(x) != wanted) x++;
    std::printf("%u\n", x);
}
