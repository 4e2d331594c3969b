void heat(int n, int steps, double *A, double *B);
