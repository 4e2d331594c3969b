void quartic(int n, const double *x, double *y);
