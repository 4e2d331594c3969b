void turned(int m, int n, const double *a, double *b);
