void filters(int n, int m, const double *A, double *out, double *p);
