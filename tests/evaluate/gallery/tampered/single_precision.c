// VERDICT wrong
// WHY The winner in single precision; the error is above the tolerance.
// AGAINST waves
// HACK 8
// KIND output
// TAMPERS waves_recurrence
#include <math.h>
#include <stdio.h>

int main(void) {
    int points, terms;
    if (scanf("%d %d", &points, &terms) != 2) return 1;
    for (int p = 0; p < points; p++) {
        const double x = 3.0 * p / points;
        float sum = 0, real = (float)cos(x), imaginary = (float)sin(x), sine = imaginary, cosine = real;
        for (int k = 1; k <= terms; k++) {
            sum += sine / (float)k;
            const float next = sine * real + cosine * imaginary;
            cosine = cosine * real - sine * imaginary;
            sine = next;
        }
        printf("%.12g\n", sum);
    }
    return 0;
}
