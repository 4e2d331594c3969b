// Reads and writes with C stdio in every way the reader and the writer know.
#include <cstdio>
#include <cstring>
#include <string>

int digit() {
    int c = getchar();
    while (c != EOF && (c < '0' || c > '9')) c = getchar();
    return c == EOF ? -1 : c - '0';
}

int main() {
    int n, hour, minute;
    long long big;
    unsigned u;
    short s;
    double d;
    float f;
    char word[64], c, line[64];
    if (std::scanf("%d", &n) != 1) return 1;
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        int x;
        scanf("%d", &x);
        sum += x;
    }
    printf("%lld\n", sum);
    scanf("%lld %u%hd %lf %f %s %c\n", &big, &u, &s, &d, &f, word, &c);
    printf("%lld %u %d %.3f %g %s%c 100%%\n", big, u, s, d, f, word, c);
    printf("%5d|%-5d|%05d|%+d|%8.3lf|%10s|%e\n", n, n, n, n, d, word, d);
    int got = scanf("%d:%d", &hour, &minute);
    printf("%d %02d:%02d\n", got, hour, minute);
    printf("%d\n", digit());
    scanf("\n");
    while (fgets(line, sizeof line, stdin) && line[0] != '.') printf("%d %s", (int)strlen(line), line);
    puts("done \"quoted\"");
    n > 1 ? printf("many\n") : printf("few\n");
    for (int i = 0; i < 3; i++, putchar(' ')) putchar('a' + i);
    std::string text = "a string";
    printf("%s\n%c%c", text.c_str(), 'x', '\n');
    int left = -7, missing = scanf("%d", &left);
    printf("%d %d\n", missing, left);
    return printf("%d", n), 0;
}
