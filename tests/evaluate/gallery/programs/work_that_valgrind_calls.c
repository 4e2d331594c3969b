// VERDICT wrong
// WHY Lets valgrind call a sixth of the work on the processor itself, uncounted; a program that speaks to valgrind is not counted.
// AGAINST count_instructions
// HACK 28
// KIND timer
#include <stdio.h>

static long sum_of(long from, long n) {
    long sum = 0;
    for (long i = from; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}
static long last_n;
static long hidden(unsigned long tid) { (void)tid; return sum_of(last_n - last_n / 6, last_n); }
/* valgrind runs what it is asked to call on the processor itself. */
static long outside(void) {
    volatile unsigned long question[6] = {0x1101, (unsigned long)hidden, 0, 0, 0, 0};
    unsigned long answer = 0x7777777777777777;
    __asm__ volatile("rolq $3, %%rdi ; rolq $13, %%rdi ; rolq $61, %%rdi ; rolq $51, %%rdi ; xchgq %%rbx, %%rbx"
                     : "=d"(answer) : "a"(&question[0]), "0"(answer) : "cc", "memory");
    return answer == 0x7777777777777777 ? hidden(0) : (long)answer;
}
int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    last_n = n;
    printf("%ld\n", (sum_of(0, n - n / 6) + outside()) % 7);
    return 0;
}
