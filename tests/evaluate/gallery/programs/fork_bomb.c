// VERDICT not-faster
// WHY Starts children until no more are allowed and leaves them; their number is limited and they die with the run.
// AGAINST count
// HACK 53
// KIND resource
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
    for (int i = 0; i < 4000; i++) {
        const pid_t child = fork();
        if (child < 0) break;
        if (child == 0) pause(), _exit(0);
    }
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
