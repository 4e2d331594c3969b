// VERDICT not-faster
// WHY Works in a handler of faults, one step for each, where a counter might not look; it counts there too.
// AGAINST count_instructions
// HACK 28
// KIND timer
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static long total, at, last;
static char *page;

static void step(int signal) {
    (void)signal;
    for (long end = at + 100000 < last ? at + 100000 : last; at < end; at++) {
        total += at;
        __asm__ volatile("" : "+r"(total));
    }
    if (at == last) mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

int main(void) {
    if (scanf("%ld", &last) != 1) return 1;
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = step, .sa_flags = SA_NODEFER}, NULL);
    *(volatile char *)page = 1;
    __asm__ volatile("" : : : "memory");
    printf("%ld\n", total % 7);
    return 0;
}
