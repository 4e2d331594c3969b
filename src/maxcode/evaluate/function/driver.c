/* Calls the function under test whenever the shim says so; compiled together with it, and trusted no more than it.
 *
 *   driver SLOTS OFFSET SCALAR... BYTES...     exchange memory 4, go 5, done 6: see shim_calls.h
 *
 * function.py puts maxcode_call and the two counts, which it writes for each problem, in front of this.  C and C++.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUARD 4096

/* The exchange, with pages in front of, between and behind the arrays that cannot be touched. */
static void place(int slots, size_t offset, char **sizes, void **arrays) {
    struct stat about;
    if (fstat(4, &about)) _exit(120);
    char *at = (char *)mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, 4, 0);
    if (at == MAP_FAILED) _exit(121);
    for (int i = 0; i < slots * maxcode_arrays; i++) {
        const size_t bytes = strtoul(sizes[i % maxcode_arrays], NULL, 10);
        if (mprotect(at, GUARD, PROT_NONE)) _exit(122);
        arrays[i] = at + GUARD + offset;
        at += GUARD + (offset + bytes + GUARD - 1) / GUARD * GUARD;
    }
    if (mprotect(at, GUARD, PROT_NONE)) _exit(123);
}

int main(int count, char **words) {
    const int slots = count > 1 ? atoi(words[1]) : 0;
    if (count != 3 + maxcode_scalars + maxcode_arrays) return 124;
    long *scalars = (long *)calloc((size_t)maxcode_scalars + 1, sizeof *scalars);
    void **arrays = (void **)calloc((size_t)(slots * maxcode_arrays) + 1, sizeof *arrays);
    for (int i = 0; i < maxcode_scalars; i++) scalars[i] = strtol(words[3 + i], NULL, 10);
    place(slots, strtoul(words[2], NULL, 10), words + 3 + maxcode_scalars, arrays);
    char word = 'd';
    if (write(6, &word, 1) != 1) return 125;
    while (read(5, &word, 1) == 1) {
        for (int slot = 0; slot < slots; slot++) maxcode_call(scalars, arrays + slot * maxcode_arrays);
        if (write(6, &word, 1) != 1) return 126;
    }
    return 0;
}
