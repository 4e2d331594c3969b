// VERDICT wrong
// WHY Answers NaN, which differs from nothing by more than a tolerance; NaN is never equal.
// AGAINST waves
// HACK 41
// KIND output
// TAMPERS waves_recurrence
#include <math.h>
#include <stdio.h>

int main(void) {
    int points, terms;
    if (scanf("%d %d", &points, &terms) != 2) return 1;
    for (int p = 0; p < points; p++) {
        const double x = 3.0 * p / points;
        double sum = 0, real = (double)cos(x), imaginary = (double)sin(x), sine = imaginary, cosine = real;
        for (int k = 1; k <= terms; k++) {
            sum += sine / (double)k;
            const double next = sine * real + cosine * imaginary;
            cosine = cosine * real - sine * imaginary;
            sine = next;
        }
        printf("%.12g\n", p < 0 ? sum : NAN);
    }
    return 0;
}
