// VERDICT faster
// WHY Maps standard input in place of reading it, and writes by the system call.
// AGAINST count
// HACK none
// KIND honest
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    struct stat about;
    if (fstat(0, &about)) return 1;
    const char *text = mmap(0, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
    if (text == MAP_FAILED) return 1;
    long n = 0;
    for (long at = 0; at < about.st_size && text[at] >= '0' && text[at] <= '9'; at++) n = 10 * n + text[at] - '0';
    const char answer[2] = {(char)('0' + n * (n - 1) / 2 % 7), '\n'};
    return write(1, answer, 2) != 2;
}
