// VERDICT not-faster
// WHY Works in the resolver of an indirect function, while the program is loaded; that is charged too.
// AGAINST count
// HACK 58
// KIND compile-time
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

static long kept;
static long answer_of(void) { return kept; }
static long (*resolve(void))(void) {
    char text[32] = "";
    long n = 0;
#ifdef __x86_64__
    long got = 17; /* pread64(0, text, 31, 0): the C library cannot be called yet */
    register long at_offset __asm__("r10") = 0;
    __asm__ volatile("syscall" : "+a"(got) : "D"(0L), "S"(text), "d"(31L), "r"(at_offset) : "rcx", "r11", "memory");
#else
    if (pread(0, text, 31, 0) < 0) return 0;
#endif
    for (char *at = text; *at >= '0' && *at <= '9'; at++) n = 10 * n + *at - '0';
    kept = count(n);
    return answer_of;
}
static long resolved(void) __attribute__((ifunc("resolve")));

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    answer = resolved();
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
