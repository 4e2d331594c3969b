/* Takes 4 GB and touches all of it. */
#include <stdlib.h>

int main(void) {
    for (int i = 0; i < 64; i++) {
        volatile char *more = malloc(64 << 20);
        if (!more) return 3;
        for (long at = 0; at < 64 << 20; at += 4096) more[at] = 1;
    }
    return 0;
}
