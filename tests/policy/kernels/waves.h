void waves(int n, int m, int steps, const double *source, double *E, double *F, double *H);
