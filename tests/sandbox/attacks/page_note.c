/* A note in which pages of a file are in memory.
 *
 *   page_note FILE write BITS     reads one page for every bit that is 1
 *   page_note FILE read COUNT     prints the bits: a page that costs no fault from the disk has been read before
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define APART 5 /* pages, and not a power of two */

static long faults(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_majflt;
}

int main(int count, char **words) {
    struct stat about;
    const int file = count == 4 ? open(words[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &about)) return 2;
    volatile char *all = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, file, 0);
    madvise((void *)all, (size_t)about.st_size, MADV_RANDOM);
    if (!strcmp(words[2], "write"))
        for (size_t i = 0; words[3][i]; i++)
            if (words[3][i] == '1') (void)all[i * APART * 4096];
    for (long i = 0; !strcmp(words[2], "read") && i < atol(words[3]); i++) {
        const long before = faults();
        (void)all[i * APART * 4096];
        putchar(faults() == before ? '1' : '0');
    }
    return 0;
}
