/* y[i] = exp(100 x[i]). */
void boltz(int n, const double *x, double *y);
