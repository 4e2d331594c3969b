// VERDICT faster
// WHY Undoes each step: a product has an inverse, and so has a shift by half of the bits.
// AGAINST preimage
// HACK honest look-alike of begins_where_the_original_ended
// KIND honest
#include <cstdio>

int main() {
    unsigned x, inverse = 1;
    if (std::scanf("%u", &x) != 1 || x >> 28) return 1;
    for (int i = 0; i < 5; i++) inverse *= 2 - 0x9E3779B1u * inverse;
    for (int i = 0; i < 4; i++) {
        x ^= x >> 13 ^ x >> 26;
        x = (x - 12345u) * inverse & 0xFFFFFFFu;
    }
    std::printf("%u\n", x);
}
