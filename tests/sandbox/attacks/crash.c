/* Ends as its argument says: a crash, an abort, a recursion without end, or an exit status. */
#include <stdlib.h>
#include <string.h>

static volatile int endless = 1;

static int recurse(int n) {
    volatile char room[4096];
    room[n % 4096] = (char)n;
    return endless ? recurse(n + 1) + room[n % 4096] : 0;
}

int main(int count, char **words) {
    if (count < 2) return 0;
    if (!strcmp(words[1], "crash")) *(volatile int *)16 = 1;
    if (!strcmp(words[1], "abort")) abort();
    if (!strcmp(words[1], "recurse")) return recurse(0);
    return atoi(words[1]);
}
