void factors(int n, const double *x, double *L, double *U, double *V);
