void falling(int m, int n, int k, const double *A, const double *B, double *C);
