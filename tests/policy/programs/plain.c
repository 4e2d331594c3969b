/* C: stdio, loops over arrays and pointers, a constant that nobody changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SIZE 24

int modulus = 10007;
double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
double row[SIZE], other[SIZE];
char text[100];

static void add(double *to, double *from, int n) {
    for (int i = 0; i < n; i++) to[i] += 2 * from[i];
}

static int hash(const char *word) {
    int h = 0;
    for (int i = 0; i < strlen(word); i++) h = (h * 31 + word[i]) % modulus;
    return h;
}

int main(void) {
    int n;
    if (scanf("%d %s", &n, text) < 1) return 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = 1.0 / (i + 2 * j + 1);
            b[i][j] = sqrt(i * n + j);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) b[i][j] += a[k][i] * c[k][j];
    for (int i = 0; i < n; i++) row[i] = a[i][i];
    add(row, other, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) other[i] += row[k];
    memset(a, 0, sizeof a);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) printf("%.17g ", b[i][j] + c[i][j] + a[i][j]);
        printf("%.17g\n", other[i] + row[i]);
    }
    printf("%d %d\n", hash(text), n % modulus);
    return 0;
}
