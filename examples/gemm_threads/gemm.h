/* C = A B for row-major matrices: A is m x k, B is k x n, C is m x n. */
void gemm(int m, int n, int k, const double *A, const double *B, double *C);
