// INPUT 200000
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shout(char *text) {
    for (size_t i = 0; i < strlen(text); i++)  // BOTTLENECK algorithm
        if (text[i] >= 'a' && text[i] <= 'z')
            text[i] -= 32;
}

int main(void) {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    char *text = malloc(n + 1);
    for (int i = 0; i < n; i++) text[i] = "abcdefghij klmno"[i * 7 % 16];
    text[n] = 0;
    shout(text);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 31 + text[i];
    printf("%u\n", sum);
    return 0;
}
