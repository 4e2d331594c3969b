void triangle(int n, int m, const double *A, double *C);
