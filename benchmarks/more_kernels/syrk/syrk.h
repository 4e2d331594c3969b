void syrk(int n, int k, const double *A, double *C);
