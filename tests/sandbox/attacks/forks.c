/* Starts as many processes as it can, each of which does the same; all stay. */
#include <unistd.h>

int main(void) {
    for (;;) fork();
}
