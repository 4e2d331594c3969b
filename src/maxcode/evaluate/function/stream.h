/* Numbers out of ChaCha with 8 rounds, written after the description in RFC 8439: who sees some of them learns nothing of
 * others. */
#include <stdint.h>
#include <string.h>

struct stream {
    uint32_t key[8];
    uint64_t block;
    uint32_t words[16];
    int left;
};

static uint32_t turned(uint32_t word, int by) { return word << by | word >> (32 - by); }

static void quarter(uint32_t *w, int a, int b, int c, int d) {
    w[a] += w[b], w[d] = turned(w[d] ^ w[a], 16);
    w[c] += w[d], w[b] = turned(w[b] ^ w[c], 12);
    w[a] += w[b], w[d] = turned(w[d] ^ w[a], 8);
    w[c] += w[d], w[b] = turned(w[b] ^ w[c], 7);
}

static void refill(struct stream *from) {
    uint32_t begin[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* "expand 32-byte k" */
    memcpy(begin + 4, from->key, sizeof from->key);
    begin[12] = (uint32_t)from->block, begin[13] = (uint32_t)(from->block >> 32);
    memcpy(from->words, begin, sizeof begin);
    for (int i = 0; i < 4; i++) { /* two rounds each: columns, then diagonals */
        for (int j = 0; j < 4; j++) quarter(from->words, j, 4 + j, 8 + j, 12 + j);
        for (int j = 0; j < 4; j++) quarter(from->words, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
    }
    for (int i = 0; i < 16; i++) from->words[i] += begin[i];
    from->block++;
    from->left = 16;
}

static uint64_t next(struct stream *from) {
    if (from->left < 2) refill(from);
    from->left -= 2;
    return (uint64_t)from->words[from->left] << 32 | from->words[from->left + 1];
}
