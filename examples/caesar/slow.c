/* Encodes lines: the first line is the shift, every other line is shifted letter by letter (case is kept).
   Prints each encoded line, and at the end how often each vowel was written. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 200000

static char line[MAX_LINE];
static int vowels[26];

static void encode(char *text, int shift)
{
    for (int i = 0; i < strlen(text); i++) {
        if (isupper((unsigned char)text[i]))
            text[i] = 'A' + (text[i] - 'A' + shift) % 26;
        else if (islower((unsigned char)text[i]))
            text[i] = 'a' + (text[i] - 'a' + shift) % 26;
    }
}

static void count(const char *text)
{
    const char *wanted = "aeiou";
    for (int i = 0; i < strlen(text); i++) {
        for (int j = 0; j < strlen(wanted); j++) {
            if (tolower((unsigned char)text[i]) == wanted[j])
                vowels[wanted[j] - 'a']++;
        }
    }
}

int main(void)
{
    int shift;
    if (scanf("%d ", &shift) != 1)
        return 1;
    while (fgets(line, MAX_LINE, stdin) != NULL) {
        encode(line, shift);
        count(line);
        printf("%s", line);
    }
    for (int i = 0; i < 26; i++)
        if (strchr("aeiou", 'a' + i))
            printf("%c %d\n", 'a' + i, vowels[i]);
    return 0;
}
