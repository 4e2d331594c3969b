void upper(int n, int m, const double *A, double *B, double *U);
