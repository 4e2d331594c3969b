/* y[i] = x[i] (1 - cos(2 pi i / n)) / 2. */
void taper(int n, const double *x, double *y);
