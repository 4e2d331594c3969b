// Loops over arrays: strided, repeated, with sums in memory.  All sums are printed in full.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>
using namespace std;
typedef vector<vector<double>> Matrix;
const int SIZE = 32;
double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE], grid[SIZE][SIZE];
double flat[SIZE * SIZE], left_side[SIZE * SIZE], right_side[SIZE * SIZE];

Matrix step(Matrix plate) {
    int n = plate.size();
    Matrix next = plate;
    for (int column = 1; column < n - 1; column++) {
        for (int row = 1; row < n - 1; row++) {
            double around = plate[row - 1][column] + plate[row + 1][column];
            next[row][column] = around / 4.0;
        }
    }
    return next;
}

void multiply(double* to, const double* x, const double* y, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.5;
            for (int k = 0; k < n; k++) sum += x[i * n + k] * y[k * n + j];
            to[i * n + j] = sum * 2;
        }
}

int main() {
    int n;
    char text[64];
    if (scanf("%d %s", &n, text) != 2) return 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = 1.0 / (i + 3 * j + 1);
            b[i][j] = sqrt(i * j + 0.1);
            left_side[i * n + j] = a[i][j];
            right_side[i * n + j] = b[i][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            b[i][j] = 0.25;
            for (int k = 0; k < n; k++) b[i][j] += a[i][k] * c[k][j];
        }
    multiply(flat, left_side, right_side, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) grid[i][j] = a[j][i] * 2;
    memset(a, 0, sizeof(a));
    Matrix plate(n, vector<double>(n + 2, 1.5));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) plate[i][j] += i * 0.1 + pow(n, 2);
    vector<vector<double>> turned(n, vector<double>(n + 1, 0.5));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) turned[i][j] += c[i][j];
    int letters[26] = {0}, hits = 0;
    for (int i = 0; i < strlen(text); i++) letters[text[i] - 'a']++;
    for (int i = 0; i < (int)sqrt(n * n); i++) hits += i;
    int at = 0;
    while (at < (int)strlen(text)) at++;
    Matrix moved = step(plate);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            printf("%.17g %.17g ", b[i][j] + c[i][j] + a[i][j], flat[i * n + j] + grid[i][j] + turned[i][j]);
        printf("%.17g %.17g\n", moved[i][i], plate[i][1]);
    }
    printf("%d %d %d\n", letters[1], hits, at);
}
