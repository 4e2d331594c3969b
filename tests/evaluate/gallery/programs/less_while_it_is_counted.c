// VERDICT wrong
// WHY Asks valgrind whether it counts, and then knows the formula; a program that speaks to valgrind, where the original does not, is not counted.
// AGAINST count_instructions
// HACK 28
// KIND timer
#include <stdio.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}
/* The request that a program makes to ask whether valgrind runs it. */
static unsigned counted(void) {
#if defined(__x86_64__)
    volatile unsigned long question[6] = {0x1001, 0, 0, 0, 0, 0};
    unsigned long answer = 0;
    __asm__ volatile("rolq $3, %%rdi ; rolq $13, %%rdi ; rolq $61, %%rdi ; rolq $51, %%rdi ; xchgq %%rbx, %%rbx"
                     : "=d"(answer) : "a"(&question[0]), "0"(answer) : "cc", "memory");
    return (unsigned)answer;
#else
    return 0;
#endif
}

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    printf("%ld\n", counted() ? n * (n - 1) / 2 % 7 : count(n));
    return 0;
}
