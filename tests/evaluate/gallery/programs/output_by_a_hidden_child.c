// VERDICT wrong|not-faster
// WHY Ends at once and leaves a child in another group and session to print the answer; what is left is killed before the answer is there.
// AGAINST count_wall
// HACK 28
// KIND timer
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

int main(void) {
    long n;
    if (scanf("%ld", &n) != 1) return 1;
    const pid_t child = fork();
    if (child > 0) return 0;
    if (child == 0) setsid(), setpgid(0, 0);
    printf("%ld\n", count(n));
    return 0;
}
