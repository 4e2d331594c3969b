void paths(int n, const double *A, double *out);
