/* G = (A B) (C D), with E = A B and F = C D kept; all matrices are n x n, row-major. */
void threemm(int n, const double *A, const double *B, const double *C, const double *D, double *E, double *F, double *G);
