void columns(int m, int n, double *A, double *R, double *d);
