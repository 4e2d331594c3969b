/* Preloaded into a program under test that runs on filled memory: the stack below its first frame holds no zeros.
 *
 * The kernel gives zeros, and so a program can be right by accident that reads a local variable it never wrote.  The
 * shim says the byte in FILL; the same byte is what malloc gives (GLIBC_TUNABLES), which needs no code of ours.
 */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MOST_BYTES (8ul << 20)

static void fill_stack(size_t bytes, int byte) {
    char *area = alloca(bytes);
    memset(area, byte, bytes);
    __asm__ volatile("" : : "r"(area) : "memory"); /* the compiler must not see that nobody reads it */
}

__attribute__((constructor)) static void fill(void) {
    const char *byte = getenv("FILL");
    struct rlimit stack;
    if (!byte || getrlimit(RLIMIT_STACK, &stack)) return;
    fill_stack(stack.rlim_cur / 4 < MOST_BYTES ? stack.rlim_cur / 4 : MOST_BYTES, atoi(byte));
}
