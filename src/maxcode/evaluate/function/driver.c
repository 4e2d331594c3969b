/* Calls the function under test whenever the shim says so; compiled together with it, and trusted no more than it.
 *
 *   driver     exchange memory 4, go 5, done 6: see shim_calls.h
 *
 * What it is told stands in the last page of the exchange, once the shim says 's': the calls of a round at most, the
 * offset of the arrays, the scalars, the bytes of the arrays; in front of them, with every 'g', the calls to make.
 *
 * function.py puts maxcode_call and the two counts, which it writes for each problem, in front of this.  C and C++.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAXCODE_GO = 5, MAXCODE_DONE = 6, MAXCODE_GUARD = 4096 };

/* Reads or writes a byte, not by the library: a program can have functions of its own in the place of the library's,
 * which are back from a stop before the driver is, and look what the next round has. */
static long maxcode_byte(long number, long file, char *word) {
#if defined(__x86_64__)
    long moved = number;
    __asm__ volatile("syscall" : "+a"(moved) : "D"(file), "S"(word), "d"(1l) : "rcx", "r11", "memory");
    return moved;
#elif defined(__aarch64__)
    register long asked __asm__("x8") = number, moved __asm__("x0") = file, length __asm__("x2") = 1;
    register char *where __asm__("x1") = word;
    __asm__ volatile("svc 0" : "+r"(moved) : "r"(asked), "r"(where), "r"(length) : "memory");
    return moved;
#else
    return syscall(number, file, word, 1l);
#endif
}

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
    calls->told = (volatile long *)(calls->exchange + size - MAXCODE_GUARD);
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
        if (mprotect(at, MAXCODE_GUARD, PROT_NONE)) _exit(122);
        calls->arrays[i] = at + MAXCODE_GUARD + offset;
        at += MAXCODE_GUARD + (offset + bytes + MAXCODE_GUARD - 1) / MAXCODE_GUARD * MAXCODE_GUARD;
    }
    if (mprotect(at, MAXCODE_GUARD, PROT_NONE)) _exit(123);
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
    if (maxcode_byte(SYS_write, MAXCODE_DONE, &word) != 1) return 125;
    while (maxcode_byte(SYS_read, MAXCODE_GO, &word) == 1) {
        if (word == 's') maxcode_place(&calls);
        if (word == 'g') maxcode_round(&calls);
        if (maxcode_byte(SYS_write, MAXCODE_DONE, &word) != 1) return 126;
    }
    return 0;
}
