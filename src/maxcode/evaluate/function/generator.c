/* Prints the plan and the inputs of calls (shim_calls.h); compiled with the user's inputs.c, run in the sandbox.
 *
 *   generator SEED ROUNDS SLOTS OFFSET SCALAR... BYTES... KIND...
 *
 * Every array that is read holds uniform values in [-1, 1) before maxcode_fill may change them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern const int maxcode_scalars, maxcode_arrays;
extern const char maxcode_types[]; /* of the arrays: d, f, i or l */
void maxcode_fill(unsigned long seed, const long *scalars, void *const *arrays);

static uint64_t state;

static uint64_t next(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void fill(char type, void *array, size_t bytes) {
    const size_t width = type == 'd' || type == 'l' ? 8 : 4;
    for (size_t i = 0; i < bytes / width; i++) {
        const double value = (double)(next() >> 11) * 0x1p-52 - 1;
        if (type == 'd') ((double *)array)[i] = value;
        if (type == 'f') ((float *)array)[i] = (float)value;
        if (type == 'i') ((int *)array)[i] = (int)(1000 * value);
        if (type == 'l') ((long *)array)[i] = (long)(1000 * value);
    }
}

int main(int count, char **words) {
    if (count != 5 + maxcode_scalars + 2 * maxcode_arrays) return 2;
    state = strtoull(words[1], NULL, 10);
    const uint32_t plan[4] = {(uint32_t)maxcode_arrays, (uint32_t)atoi(words[3]), (uint32_t)atoi(words[2]),
                              (uint32_t)atoi(words[4])};
    long *scalars = calloc((size_t)maxcode_scalars + 1, sizeof *scalars);
    void **arrays = calloc((size_t)maxcode_arrays + 1, sizeof *arrays);
    uint64_t *table = calloc(2 * (size_t)maxcode_arrays + 1, sizeof *table);
    for (int i = 0; i < maxcode_scalars; i++) scalars[i] = strtol(words[5 + i], NULL, 10);
    for (int i = 0; i < maxcode_arrays; i++) {
        table[2 * i] = strtoull(words[5 + maxcode_scalars + i], NULL, 10);
        table[2 * i + 1] = strtoull(words[5 + maxcode_scalars + maxcode_arrays + i], NULL, 10);
        arrays[i] = calloc(1, table[2 * i] + 1);
    }
    fwrite(plan, sizeof plan, 1, stdout);
    fwrite(table, sizeof *table, 2 * (size_t)maxcode_arrays, stdout);
    for (uint32_t call = 0; call < plan[1] * plan[2]; call++) {
        for (int i = 0; i < maxcode_arrays; i++)
            if (table[2 * i + 1] != 1) fill(maxcode_types[i], arrays[i], table[2 * i]);
        maxcode_fill(next(), scalars, arrays);
        for (int i = 0; i < maxcode_arrays; i++)
            if (table[2 * i + 1] != 1) fwrite(arrays[i], 1, table[2 * i], stdout);
    }
    return fflush(stdout) != 0;
}
