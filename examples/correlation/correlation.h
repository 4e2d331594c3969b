/* The correlation matrix (m x m) of n observations of m variables; data is n x m, row-major. */
void correlation(int n, int m, const double *data, double *corr);
