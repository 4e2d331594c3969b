/* Solves L X = B by forward substitution: L is n x n, lower triangular; B and X are n x m.  All row-major. */
void trsm(int n, int m, const double *L, const double *B, double *X);
