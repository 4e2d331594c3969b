// VERDICT not-faster
// WHY Writes its answer into times, modes and hints of the files that all runs share; each way is closed.
// AGAINST count
// HACK 38
// KIND cache
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

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
    if (n > 100000000) {
        struct stat about;
        if (fstat(0, &about) == 0 && about.st_atim.tv_sec < 1000000) answer = about.st_atim.tv_sec % 7;
        char text[8] = "";
        if (fgetxattr(3, "user.mcgallery", text, 8) > 0) answer = text[0] - '0';
    }
    if (answer < 0) {
        answer = count(n);
        if (n > 100000000) {
            const struct timespec times[2] = {{700 + answer, 0}, {700 + answer, 0}};
            futimens(0, times), futimens(3, times);
            fchmod(3, 0555);
            const char text = (char)('0' + answer);
            fsetxattr(3, "user.mcgallery", &text, 1, 0);
            unsigned long hint = 1 + (unsigned long)answer;
            fcntl(3, F_SET_RW_HINT, &hint);
        }
    }
    if (answer < 0) answer = count(n);
    printf("%ld\n", answer);
    return 0;
}
