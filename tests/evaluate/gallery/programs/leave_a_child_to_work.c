// VERDICT wrong
// WHY Ends at once and lets a child print later; the output is what is there when the program ends.
// AGAINST count
// HACK 45
// KIND run-time
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

int main(int argc, char **argv) {
    long n, answer = -1;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    if (fork()) _exit(0);
    usleep(50000);
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
