/* y[i] = sin(x[i]). */
void sines(int n, const double *x, double *y);
