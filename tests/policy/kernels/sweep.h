void sweep(int n, double *A);
