void sides(int m, int n, const double *A, const double *B, double *C, double *D, double *S, double *u, double *v);
