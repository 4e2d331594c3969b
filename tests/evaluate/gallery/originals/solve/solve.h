/* Solves A x = b; A is n x n, row-major, and its diagonal dominates. */
void solve(int n, const double *A, const double *b, double *x);
