/* Says how long ago its standard input was last read when it started: before half a second or more, or just now. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

int main(void) {
    struct stat about;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (fstat(0, &about)) return 1;
    const double age =
        (double)(now.tv_sec - about.st_atim.tv_sec) + 1e-9 * (double)(now.tv_nsec - about.st_atim.tv_nsec);
    puts(age > 0.5 ? "earlier" : "now");
    return 0;
}
