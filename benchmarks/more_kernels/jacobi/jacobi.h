void jacobi(int n, const double *in, double *out);
