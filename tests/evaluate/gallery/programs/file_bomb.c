// VERDICT not-faster
// WHY Fills every folder with files; nothing can be written.
// AGAINST count
// HACK 53
// KIND resource
#define _GNU_SOURCE
#include <fcntl.h>
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
    const char *folders[] = {"/tmp", "/dev/shm", "/var/tmp", "/dev/mqueue", "/src", "/proc/self/cwd", "/run", "/"};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) {
            char path[64];
            snprintf(path, sizeof path, "%s/mcgallery-%d", folders[i], k);
            if (open(path, O_CREAT | O_WRONLY, 0666) >= 0) answer = 0;
        }
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
