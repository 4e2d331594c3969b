/* Writes without end to the descriptor named by its argument, and does not mind being told to stop. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    static char text[1 << 16];
    memset(text, 'x', sizeof text);
    if (count > 2) signal(SIGXFSZ, SIG_IGN);
    while (write(atoi(words[1]), text, sizeof text) > 0) {}
    return 0;
}
