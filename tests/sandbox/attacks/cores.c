/* Asks for every core of the machine, and says on how many it may run. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

int main(void) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (size_t core = 0; core < CPU_SETSIZE; core++) CPU_SET(core, &cores);
    const int refused = sched_setaffinity(0, sizeof cores, &cores);
    if (sched_getaffinity(0, sizeof cores, &cores)) return 1;
    printf("%d %d\n", refused, CPU_COUNT(&cores));
    return 0;
}
