void atax(int m, int n, const double *A, const double *x, double *y);
