/* Calls the function under test whenever the shim says so; compiled together with it, and trusted no more than it.
 *
 *   driver     exchange memory 4, go 5, done 6: see shim_calls.h
 *
 * What it is told stands in the last page of the exchange, once the shim says 's': the calls of a round at most, the
 * offset of the arrays, the scalars, the bytes of the arrays; in front of them, whenever it says 'g', the calls to make.
 *
 * function.py puts maxcode_call and the two counts, which it writes for each problem, in front of this.  C and C++.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GUARD 4096

struct maxcode_calls {
    char *exchange;
    volatile long *told;
    long *scalars;
    void **arrays;
};

static void maxcode_map(struct maxcode_calls *calls) {
    struct stat about;
    if (fstat(4, &about)) _exit(120);
    const size_t size = (size_t)about.st_size;
    calls->exchange = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, 4, 0);
    if (calls->exchange == (char *)MAP_FAILED) _exit(121);
    calls->told = (volatile long *)(calls->exchange + size - GUARD);
}

/* Pages in front of, between and behind the arrays that cannot be touched. */
static void maxcode_place(struct maxcode_calls *calls) {
    const long slots = calls->told[1], offset = calls->told[2];
    char *at = calls->exchange;
    calls->scalars = (long *)calloc((size_t)maxcode_scalars + 1, sizeof *calls->scalars);
    calls->arrays = (void **)calloc((size_t)(slots * maxcode_arrays) + 1, sizeof *calls->arrays);
    for (int i = 0; i < maxcode_scalars; i++) calls->scalars[i] = calls->told[3 + i];
    for (long i = 0; i < slots * maxcode_arrays; i++) {
        const long bytes = calls->told[3 + maxcode_scalars + i % maxcode_arrays];
        if (mprotect(at, GUARD, PROT_NONE)) _exit(122);
        calls->arrays[i] = at + GUARD + offset;
        at += GUARD + (offset + bytes + GUARD - 1) / GUARD * GUARD;
    }
    if (mprotect(at, GUARD, PROT_NONE)) _exit(123);
}

static void maxcode_round(struct maxcode_calls *calls) {
    const long slots = calls->told[0];
    calls->told[0] = 0; /* a call has no business knowing how many follow it */
    for (long slot = 0; slot < slots; slot++) maxcode_call(calls->scalars, calls->arrays + slot * maxcode_arrays);
}

int main(void) {
    struct maxcode_calls calls = {0, 0, 0, 0};
    char word = 'd';
    maxcode_map(&calls);
    if (write(6, &word, 1) != 1) return 125;
    while (read(5, &word, 1) == 1) {
        if (word == 's') maxcode_place(&calls);
        if (word == 'g') maxcode_round(&calls);
        if (write(6, "d", 1) != 1) return 126;
    }
    return 0;
}
