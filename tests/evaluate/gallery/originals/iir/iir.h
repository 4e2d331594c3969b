/* y[i] = b0 x[i] + b1 x[i-1] + b2 x[i-2] - a1 y[i-1] - a2 y[i-2], from rest, with fixed coefficients. */
void iir(int n, const double *x, double *y);
