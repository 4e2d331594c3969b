// VERDICT crashed
// WHY Kills its process group to take along whoever runs it; nobody else is in that group.
// AGAINST count
// HACK 51
// KIND run-time
#include <signal.h>
#include <stdio.h>

static long count(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum));
    }
    return sum % 7;
}

int main(int argc, char **argv) {
    long n;
    (void)argc, (void)argv;
    if (scanf("%ld", &n) != 1) return 1;
    kill(0, SIGKILL);
    printf("%ld\n", count(n));
    return 0;
}
